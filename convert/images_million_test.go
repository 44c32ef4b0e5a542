package convert

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
)

// endless is a store with a listing of any length, which it does not hold in memory.
type endless struct {
	storage.Store
	keys  int
	lists int
}

const endlessDirectory = "datasets/photos/"

func (e *endless) List(_ context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	return func(yield func(storage.Object, error) bool) {
		e.lists++
		if prefix != endlessDirectory || !deep {
			yield(storage.Object{}, fmt.Errorf("%q, deep: %v was not to be listed", prefix, deep))
			return
		}
		written := time.Unix(1_600_000_000, 0)
		for i := range e.keys {
			o := storage.Object{
				Name: fmt.Sprintf("%sclass-%03d/IMG_%08d.jpg", prefix, i/(e.keys/1000+1), i),
				Size: 110_000, ModTime: written, Version: fmt.Sprintf(`"%032x"`, i),
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (e *endless) Stat(context.Context, string) (storage.Object, error) {
	return storage.Object{}, fs.ErrNotExist
}

func (e *endless) Open(context.Context, string, string, int64, int64) (io.ReadCloser, storage.Object, error) {
	return nil, storage.Object{}, fs.ErrPermission
}

// endlessStore returns a store with this many images, and the URL of their directory.
func endlessStore(t testing.TB, keys int) (*endless, string) {
	e := &endless{keys: keys}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return e, nil })
	storage.Forget()
	t.Cleanup(storage.Forget)
	return e, "mem://store/" + strings.TrimSuffix(endlessDirectory, "/")
}

// heap returns the bytes of live objects.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A listed image takes its path, its version and 104 bytes, plus spare capacity of the list.
func TestListingOfAStoreIsCompact(t *testing.T) {
	const keys = 100_000
	e, url := endlessStore(t, keys)
	o := &ImageOptions{Options: Options{Name: "photos"}}
	before := heap()
	l, err := o.list(t.Context(), imagePlace{at: storage.Parse(url)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, version := len("class-000/IMG_00000000.jpg"), 34
	if kept := (heap() - before) / keys; kept > int64(path+version+104)*5/4 {
		t.Errorf("%d bytes are kept of a picture, and %d are its path and version", kept, path+version)
	}
	if len(l.images) != keys || e.lists > 2 {
		t.Errorf("%d pictures in %d lists", len(l.images), e.lists)
	}
	runtime.KeepAlive(l)
}

// An image in a table takes, besides, its features as an Example, and some 100 bytes for a list of
// labels.
func TestTablesAreHeldCompactly(t *testing.T) {
	const keys = 100_000
	_, url := endlessStore(t, keys)
	var text strings.Builder
	text.WriteString("path,tags,n,x,caption\n")
	for i := range keys {
		fmt.Fprintf(&text, "class-%03d/IMG_%08d.jpg,a|b%d,%d,0.%d,caption %d of some length\n", i/(keys/1000+1), i, i%1000, i, i, i)
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	put(t, filepath.Dir(file), "t.csv", []byte(text.String()))
	text.Reset()
	o := &ImageOptions{
		Options: Options{Name: "photos"}, Labels: LabelSpec{File: file, Separator: "|"},
		Features: []FeatureSpec{{Name: "n"}, {Name: "x", Type: TypeFloat}, {Name: "caption"}},
	}
	before := heap()
	l, err := o.list(t.Context(), imagePlace{at: storage.Parse(url)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	features := 0
	for i := range l.images {
		features += len(l.images[i].row.features)
	}
	path, version := len("class-000/IMG_00000000.jpg"), 34
	want := int64(path+version+96+features/keys+100) * 5 / 4
	if kept := (heap() - before) / keys; kept > want {
		t.Errorf("%d bytes are kept of an image, want %d at most: the features are %d", kept, want, features/keys)
	} else {
		t.Logf("%d bytes of an image, %d of them features", kept, features/keys)
	}
	runtime.KeepAlive(l)
}

// BenchmarkPlanOfAMillion plans a set of a million images in a store and reports the peak heap
// size, including garbage, and the memory kept per image.
func BenchmarkPlanOfAMillion(b *testing.B) {
	const keys = 1_000_000
	_, url := endlessStore(b, keys)
	for b.Loop() {
		before := heap()
		done := make(chan struct{})
		var most uint64
		var sampling sync.WaitGroup
		sampling.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(10 * time.Millisecond):
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapInuse)
				}
			}
		})
		o := ImageOptions{Options: Options{Name: "photos"}}
		in := &imageInput{o: &o, src: url}
		if err := in.scan(b.Context(), b.TempDir()); err != nil {
			b.Fatal(err)
		}
		s, err := in.plan(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		r, err := newRun(&o.Options, s)
		if err != nil {
			b.Fatal(err)
		}
		r.makePlan()
		close(done)
		sampling.Wait()
		b.ReportMetric(float64(most)/1e6, "peak-MB")
		b.ReportMetric(float64(heap()-before)/keys, "B/picture")
		runtime.KeepAlive(r)
	}
}
