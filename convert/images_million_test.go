package convert

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// endless is a store with a listing of any length, which it does not hold in memory.
type endless struct {
	storage.Store
	keys  int
	lists int
	body  []byte // of each object; nil if none can be read
}

const endlessDirectory = "datasets/photos/"

func (e *endless) List(_ context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	return func(yield func(storage.Object, error) bool) {
		e.lists++
		if prefix != endlessDirectory || !deep {
			yield(storage.Object{}, fmt.Errorf("%q, deep: %v was not to be listed", prefix, deep))
			return
		}
		for i := range e.keys {
			if !yield(e.object(i), nil) {
				return
			}
		}
	}
}

func (e *endless) object(i int) storage.Object {
	size := int64(110_000)
	if e.body != nil {
		size = int64(len(e.body))
	}
	return storage.Object{
		Name: fmt.Sprintf("%sclass-%03d/IMG_%08d.jpg", endlessDirectory, i/(e.keys/1000+1), i),
		Size: size, ModTime: time.Unix(1_600_000_000, 0), Version: endlessVersion(i),
	}
}

// endlessVersion is an ETag as stores make of MD5s: no two begin alike.
func endlessVersion(i int) string {
	sum := xxh3.HashSeed(nil, uint64(i))
	return fmt.Sprintf(`"%016x%016x"`, sum, bits.Reverse64(sum))
}

func (e *endless) Stat(context.Context, string) (storage.Object, error) {
	return storage.Object{}, fs.ErrNotExist
}

func (e *endless) Open(_ context.Context, name, _ string, _, _ int64) (io.ReadCloser, storage.Object, error) {
	var i int
	if _, err := fmt.Sscanf(name[strings.LastIndex(name, "_"):], "_%d.jpg", &i); e.body == nil || err != nil {
		return nil, storage.Object{}, fs.ErrPermission
	}
	return io.NopCloser(bytes.NewReader(e.body)), e.object(i), nil
}

// endlessStore returns a store with this many images, and the URL of their directory.
func endlessStore(t testing.TB, keys int) (*endless, string) {
	e := &endless{keys: keys}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return e, nil })
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

// A listed image takes its path and 96 bytes, version included, plus spare capacity of the list.
func TestListingOfAStoreIsCompact(t *testing.T) {
	const keys = 100_000
	e, url := endlessStore(t, keys)
	o := &ImageOptions{Options: Options{Name: "photos"}}
	before := heap()
	l, err := listing.List(t.Context(), o, origin.Place{At: storage.Parse(url)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := len("class-000/IMG_00000000.jpg")
	if kept := (heap() - before) / keys; kept > int64(path+96)*5/4 {
		t.Errorf("%d bytes are kept of an image, and %d are its path", kept, path)
	}
	if len(l.Images) != keys || e.lists > 2 {
		t.Errorf("%d pictures in %d lists", len(l.Images), e.lists)
	}
	runtime.KeepAlive(l)
}

// An image takes nothing more for being in a table of labels.
func TestLabelsInATableAreHeldCompactly(t *testing.T) {
	src := directories(t, 3)
	var text strings.Builder
	text.WriteString("path,label\n")
	if err := fs.WalkDir(os.DirFS(src), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			fmt.Fprintf(&text, "%s,a\n", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, dir, "t.csv", []byte(text.String()))
	o := &ImageOptions{Options: Options{Name: "photos"}, Labels: LabelSpec{File: filepath.Join(dir, "t.csv")}}
	l, err := listing.List(t.Context(), o, origin.Place{At: storage.Parse(src)}, t.TempDir())
	if err != nil || len(l.Images) == 0 {
		t.Fatalf("%v, %d images", err, len(l.Images))
	}
	for _, p := range l.Images {
		if p.Extra != nil || p.LabelName() != "a" {
			t.Errorf("%s, of %q: %+v", p.Path, p.LabelName(), p.Extra)
		}
	}
}

// An image in a table takes, besides, its features as an Example, and some 130 bytes for a list of
// labels.
func TestTablesAreHeldCompactly(t *testing.T) {
	race.Skip(t)
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
	l, err := listing.List(t.Context(), o, origin.Place{At: storage.Parse(url)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	features := 0
	for i := range l.Images {
		features += len(l.Images[i].Row().Features)
	}
	path := len("class-000/IMG_00000000.jpg")
	want := int64(path+96+features/keys+130) * 5 / 4
	if kept := (heap() - before) / keys; kept > want {
		t.Errorf("%d bytes are kept of an image, want %d at most: the features are %d", kept, want, features/keys)
	} else {
		t.Logf("%d bytes of an image, %d of them features", kept, features/keys)
	}
	runtime.KeepAlive(l)
}

// sampleHeap begins to sample the size of the heap, garbage included, and returns a function that
// ends it and returns the largest.
func sampleHeap() (most func() uint64) {
	return sampleLargest(func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	})
}

// sampleLive is sampleHeap without garbage: what the last collection found in use. How much garbage
// piles up until the next one depends on how busy the machine is.
func sampleLive() (most func() uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	return sampleLargest(func() uint64 {
		metrics.Read(live)
		return live[0].Value.Uint64()
	})
}

func sampleLargest(size func() uint64) (most func() uint64) {
	done := make(chan struct{})
	var peak uint64
	var sampling sync.WaitGroup
	sampling.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
				peak = max(peak, size())
			}
		}
	})
	return func() uint64 {
		close(done)
		sampling.Wait()
		return peak
	}
}

// convertStored converts the images of a store, and checks what the run did.
func convertStored(t testing.TB, url, out string, want Status, images int) {
	t.Helper()
	s, err := Images(t.Context(), url, out, ImageOptions{Options: Options{Name: "photos", Shards: images/1000 + 1}})
	if err != nil || s.Status != want || s.Records != int64(images) {
		t.Fatalf("%+v, %v", s, err)
	}
}

// A second run holds a listed image with the hash of its content, and no state: 160 bytes besides
// the path, and half as much again of what is allocated during a collection.
func TestSecondRunsAreCompact(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector has memory of its own")
	}
	const images = 30_000
	e, url := endlessStore(t, images)
	e.body = pngOf(1)
	out := t.TempDir()
	convertStored(t, url, out, Written, images)
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	most := int64(len("class-000/IMG_00000000.jpg")+160) * 3 / 2
	var start, end runtime.MemStats
	held := int64(math.MaxInt64)
	for range 3 { // a collection that takes long on a busy machine counts what is allocated meanwhile
		before := heap()
		runtime.ReadMemStats(&start)
		peak := sampleLive()
		convertStored(t, url, out, UpToDate, images)
		runtime.ReadMemStats(&end)
		if held = min(held, (int64(peak())-before)/images); held <= most {
			break
		}
	}
	if held > most {
		t.Errorf("%d bytes of an image are held, want at most %d", held, most)
	}
	// Most of it is garbage of the store's names and of the states.
	allocated := int64(end.TotalAlloc-start.TotalAlloc) / images
	if allocated > 1500 {
		t.Errorf("%d bytes of an image are allocated, want at most 1500", allocated)
	}
	t.Logf("%d bytes of an image are held, %d allocated", held, allocated)
}

// BenchmarkSecondRunOfAMillion is an up-to-date run over a million images in a store, in a set of
// 1,001 shards, and reports the peak heap size, including garbage.
func BenchmarkSecondRunOfAMillion(b *testing.B) {
	const images = 1_000_000
	e, url := endlessStore(b, images)
	e.body = pngOf(1)
	out := b.TempDir()
	convertStored(b, url, out, Written, images)
	for b.Loop() {
		runtime.GC()
		peak := sampleHeap()
		convertStored(b, url, out, UpToDate, images)
		b.ReportMetric(float64(peak())/1e6, "peak-MB")
	}
}

// BenchmarkPlanOfAMillion plans a set of a million images in a store and reports the peak heap
// size, including garbage, and the memory kept per image.
func BenchmarkPlanOfAMillion(b *testing.B) {
	const keys = 1_000_000
	_, url := endlessStore(b, keys)
	for b.Loop() {
		before := heap()
		peak := sampleHeap()
		o := ImageOptions{Options: Options{Name: "photos"}}
		in := &imageInput{o: &o, src: url}
		if err := in.Scan(b.Context(), b.TempDir()); err != nil {
			b.Fatal(err)
		}
		s, err := in.Plan(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		for i := range s.Layout().Shards {
			s.Outline(i)
		}
		b.ReportMetric(float64(peak())/1e6, "peak-MB")
		b.ReportMetric(float64(heap()-before)/keys, "B/picture")
		runtime.KeepAlive(s)
	}
}
