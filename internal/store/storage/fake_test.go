package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is a Store in memory that can be made to fail.
type fake struct {
	mu      sync.Mutex
	objects map[string][]byte
	version map[string]int
	fault   func() error              // for each request, if not nil
	body    func(io.Reader) io.Reader // around each body, if not nil
	hang    func(context.Context)     // before each body, if not nil
	lax     bool                      // gives whatever version there is
	sum     Sum                       // stated of objects that are asked for as a whole
	ranges  SumKind                   // stated of each range, if not empty
	stated  Sum                       // by Stat
	opens   int
	around  int // requests that no cache may answer
	stats   int
	lists   int
	bytes   int64 // asked for
}

// newFake registers a store and returns its URL. At the end of the test, all
// that was held for reading ahead must have been given back.
func newFake(t *testing.T, objects map[string]string) (*fake, string) {
	t.Helper()
	f := &fake{objects: map[string][]byte{}, version: map[string]int{}}
	for name, data := range objects {
		f.put(name, []byte(data))
	}
	host := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	registry.Lock()
	opened["mem://"+host] = f
	registry.Unlock()
	t.Cleanup(func() {
		registry.Lock()
		delete(opened, "mem://"+host)
		registry.Unlock()
		held.Lock()
		defer held.Unlock()
		if held.bytes != 0 {
			t.Errorf("%d bytes of what may be read ahead were not given back", held.bytes)
		}
	})
	return f, "mem://" + host
}

func (f *fake) put(name string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[name] = data
	f.version[name]++
}

func (f *fake) failing() error {
	if f.fault != nil {
		return f.fault()
	}
	return nil
}

func (f *fake) List(_ context.Context, prefix string, deep bool) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		f.mu.Lock()
		f.lists++
		names := slices.Sorted(maps.Keys(f.objects))
		f.mu.Unlock()
		last := ""
		for _, name := range names {
			rest, ok := strings.CutPrefix(name, prefix)
			if !ok {
				continue
			}
			o := Object{Name: name, Size: int64(len(f.objects[name])), Version: fmt.Sprint(f.version[name])}
			if first, _, inside := strings.Cut(rest, "/"); inside && !deep {
				o = Object{Name: prefix + first + "/"}
			}
			if o.Name != last && !yield(o, nil) {
				return
			}
			last = o.Name
		}
	}
}

func (f *fake) Stat(_ context.Context, name string) (Object, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats++
	if err := f.failing(); err != nil {
		return Object{}, err
	}
	data, ok := f.objects[name]
	if !ok {
		return Object{}, fs.ErrNotExist
	}
	return Object{Name: name, Size: int64(len(data)), Version: fmt.Sprint(f.version[name]), Sum: f.stated}, nil
}

func (f *fake) Open(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, Object, error) {
	if f.hang != nil {
		f.hang(ctx)
		return nil, Object{}, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opens++
	f.bytes += length
	if AroundCaches(ctx) {
		f.around++
	}
	if err := f.failing(); err != nil {
		return nil, Object{}, err
	}
	data, ok := f.objects[name]
	if !ok {
		return nil, Object{}, fs.ErrNotExist
	}
	if len(data) == 0 {
		return nil, Object{}, errors.New("416 Range Not Satisfiable")
	}
	if !f.lax && version != "" && version != fmt.Sprint(f.version[name]) {
		return nil, Object{}, ErrChanged
	}
	content := data[offset:min(offset+length, int64(len(data)))]
	var r io.Reader = bytes.NewReader(bytes.Clone(content))
	if f.body != nil {
		r = f.body(r)
	}
	is := Object{Name: name, Size: int64(len(data)), Version: fmt.Sprint(f.version[name])}
	if offset == 0 && length >= is.Size {
		is.Sum = f.sum
	}
	if f.ranges != "" {
		is.Sum = SumOf(f.ranges, content)
	}
	return io.NopCloser(r), is, nil
}

func (f *fake) Create(context.Context, string, CreateOptions) (Upload, error) {
	return nil, errors.ErrUnsupported
}

func (f *fake) Remove(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, name)
	return nil
}
