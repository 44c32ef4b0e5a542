// Package storagetest has an object store in memory for tests, which can be made to
// fail.
package storagetest

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
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Store is a storage.Store in memory. Like the large clouds, it is strongly consistent: lists and
// reads reflect all earlier writes.
type Store struct {
	// Fault is called before each request, with its kind ("list", "stat", "open",
	// "create", "write", "commit", "abort" or "remove") and the object's name, if it is not nil.
	// What it returns is the request's answer.
	Fault func(kind, name string) error
	// Read, if not nil, is called with the number of bytes of each answer to "open", by one
	// goroutine at a time.
	Read func(name string, n int64)
	// Lost, if not nil, is called after each commit. An error that it returns replaces the success.
	Lost func(name string) error
	// Now is the store's clock. Default: time.Now.
	Now func() time.Time

	mu      sync.Mutex
	objects map[string]entry
	written int // objects so far, which numbers their versions
	open    map[*upload]storage.Leftover
}

type entry struct {
	data []byte
	is   storage.Object
}

// New returns an empty store.
func New() *Store {
	return &Store{objects: map[string]entry{}, open: map[*upload]storage.Leftover{}}
}

func (s *Store) fault(kind, name string) error {
	if s.Fault == nil {
		return nil
	}
	return s.Fault(kind, name)
}

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Put writes an object at once.
func (s *Store) Put(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, data)
}

func (s *Store) put(name string, data []byte) storage.Object {
	s.written++
	is := storage.Object{Name: name, Size: int64(len(data)), ModTime: s.now(), Version: fmt.Sprint(s.written)}
	s.objects[name] = entry{data, is}
	return is
}

// Get returns an object's contents; nil for one that is not there.
func (s *Store) Get(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[name].data
}

// Names returns the names of all objects, sorted.
func (s *Store) Names() []string {
	return s.names("")
}

// names returns the names that begin with prefix, sorted.
func (s *Store) names(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// List implements storage.Store.
func (s *Store) List(_ context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	return func(yield func(storage.Object, error) bool) {
		if err := s.fault("list", prefix); err != nil {
			yield(storage.Object{}, err)
			return
		}
		last := ""
		for _, name := range s.names(prefix) {
			rest := name[len(prefix):]
			s.mu.Lock()
			o := s.objects[name].is
			s.mu.Unlock()
			if first, _, inside := strings.Cut(rest, "/"); inside && !deep {
				o = storage.Object{Name: prefix + first + "/"}
			}
			if o.Name != "" && o.Name != last && !yield(o, nil) {
				return
			}
			last = o.Name
		}
	}
}

// Stat implements storage.Store.
func (s *Store) Stat(_ context.Context, name string) (storage.Object, error) {
	if err := s.fault("stat", name); err != nil {
		return storage.Object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.objects[name]
	if !ok {
		return storage.Object{}, fs.ErrNotExist
	}
	return e.is, nil
}

// Open implements storage.Store.
func (s *Store) Open(_ context.Context, name, version string, offset, length int64) (io.ReadCloser, storage.Object, error) {
	if err := s.fault("open", name); err != nil {
		return nil, storage.Object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.objects[name]
	switch {
	case !ok:
		return nil, storage.Object{}, fs.ErrNotExist
	case version != "" && version != e.is.Version:
		return nil, storage.Object{}, storage.ErrChanged
	case offset >= e.is.Size:
		return nil, storage.Object{}, errors.New("416 Range Not Satisfiable")
	}
	data := e.data[offset:min(offset+length, e.is.Size)]
	if s.Read != nil {
		s.Read(name, int64(len(data)))
	}
	return io.NopCloser(bytes.NewReader(data)), e.is, nil
}

// Remove implements storage.Store.
func (s *Store) Remove(_ context.Context, name string) error {
	if err := s.fault("remove", name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
	return nil
}

// Create implements storage.Store.
func (s *Store) Create(ctx context.Context, name string, o storage.CreateOptions) (storage.Upload, error) {
	if err := s.fault("create", name); err != nil {
		return nil, err
	}
	u := &upload{store: s, ctx: ctx, name: name, replace: o.Replace}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written++
	s.open[u] = storage.Leftover{Name: name, ID: fmt.Sprint(s.written), Begun: s.now()}
	return u, nil
}

// Unfinished implements storage.Unfinished.
func (s *Store) Unfinished(_ context.Context, prefix string) iter.Seq2[storage.Leftover, error] {
	return func(yield func(storage.Leftover, error) bool) {
		s.mu.Lock()
		left := slices.Collect(maps.Values(s.open))
		s.mu.Unlock()
		slices.SortFunc(left, func(a, b storage.Leftover) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
		for _, l := range left {
			if strings.HasPrefix(l.Name, prefix) && !yield(l, nil) {
				return
			}
		}
	}
}

// Discard implements storage.Unfinished.
func (s *Store) Discard(_ context.Context, l storage.Leftover) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.open, func(_ *upload, is storage.Leftover) bool { return is.ID == l.ID })
	return nil
}

type upload struct {
	store   *Store
	ctx     context.Context
	name    string
	replace bool
	data    []byte
}

func (u *upload) Write(p []byte) (int, error) {
	err := u.ended()
	if err == nil {
		err = u.store.fault("write", u.name)
	}
	if err != nil {
		return 0, u.failed(err)
	}
	u.data = append(u.data, p...)
	return len(p), nil
}

func (u *upload) failed(err error) error {
	return &fs.PathError{Op: "write", Path: u.name, Err: err}
}

// ended returns why an upload accepts nothing more.
func (u *upload) ended() error {
	if err := u.ctx.Err(); err != nil {
		u.Abort()
		return err
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	if _, open := u.store.open[u]; !open {
		return errors.New("the upload was committed, aborted or discarded before")
	}
	return nil
}

func (u *upload) Commit() (storage.Object, error) {
	err := u.ended()
	if err == nil {
		err = u.store.fault("commit", u.name)
	}
	var is storage.Object
	if err == nil {
		is, err = u.commit()
	}
	if err != nil {
		return storage.Object{}, u.failed(err)
	}
	return is, nil
}

func (u *upload) commit() (storage.Object, error) {
	s := u.store
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, u)
	if _, there := s.objects[u.name]; there && !u.replace {
		return storage.Object{}, fs.ErrExist
	}
	is := s.put(u.name, u.data)
	if s.Lost != nil {
		if err := s.Lost(u.name); err != nil {
			return storage.Object{}, err
		}
	}
	return is, nil
}

func (u *upload) Abort() {
	u.store.mu.Lock()
	_, open := u.store.open[u]
	u.store.mu.Unlock()
	if !open || u.store.fault("abort", u.name) != nil {
		return
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	delete(u.store.open, u)
}
