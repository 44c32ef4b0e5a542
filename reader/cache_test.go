package reader

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// namesIn lists a directory; nil if it does not exist.
func namesIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// started starts a pipe, which the test closes.
func started(t *testing.T, p Pipe) *Stream[Record] {
	t.Helper()
	s, err := p.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func takeIDs(t *testing.T, s *Stream[Record], n int) (ids []int) {
	t.Helper()
	for range n {
		r, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, idOf(r))
	}
	return ids
}

// elementsOf returns the element count of the stages with that name.
func elementsOf(s *Stream[Record], name string) (n int64) {
	for _, stage := range s.Stats() {
		if stage.Name == name {
			n += stage.Elements
		}
	}
	return n
}

// caches are the ways to cache.
func caches(t *testing.T) map[string]CacheOptions {
	return map[string]CacheOptions{
		"memory": {}, "disk": {Dir: filepath.Join(t.TempDir(), "new", "cache"), Version: "1"},
	}
}

// TestCacheServesLaterEpochs removes the files after the first epoch.
func TestCacheServesLaterEpochs(t *testing.T) {
	for name, o := range caches(t) {
		dir := readertest.WriteShards(t, tfrecord.CompressionNone, 700, 1, 600)
		plain := func() Pipe { return open(t, dir, Options{Seed: 5}).Interleave(2, 3).Shuffle(50) }
		var first []Record
		for r, err := range plain().All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			r.Data = slices.Clone(r.Data)
			first = append(first, r)
		}
		s := started(t, plain().Cache(o).Repeat(3))
		for i := range 3 * len(first) {
			if i == len(first)+1 {
				for k := range 3 {
					os.Remove(readertest.ShardPath(dir, k))
				}
			}
			r, err := s.Next()
			if err != nil {
				t.Fatalf("%s, element %d: %v", name, i, err)
			}
			want := first[i%len(first)]
			if idOf(r) != idOf(want) || string(r.Data) != string(want.Data) || r.File != want.File || r.Number != want.Number ||
				r.Offset != want.Offset || int(r.Epoch) != i/len(first) {
				t.Fatalf("%s, element %d: %+v, want %+v", name, i, r, want)
			}
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("%s: then %v", name, err)
		}
		if n := elementsOf(s, "read"); n != 1301 {
			t.Errorf("%s: %d records were read", name, n)
		}
		s.Close()
		if o.Dir != "" && len(namesIn(o.Dir)) != 2 {
			t.Errorf("the folder holds %q", namesIn(o.Dir))
		}
	}
}

func TestCacheLimits(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 999, 999, 500)
	build := func(o CacheOptions) Pipe { return open(t, dir, Options{Memory: 1}).Records().Cache(o).Repeat(2) }
	want := slices.Concat(readertest.InOrder(999, 999, 500), readertest.InOrder(999, 999, 500))
	for name, o := range caches(t) {
		o.Limit = 60_000
		if _, err := idsUntil(build(o)); !errors.Is(err, ErrCacheFull) {
			t.Errorf("%s: %v, want ErrCacheFull", name, err)
		}
		if names := namesIn(o.Dir); o.Dir != "" && len(names) > 0 {
			t.Errorf("left: %q", names)
		}
		o.Partial = true
		s := started(t, build(o))
		if got := rest(t, s); !slices.Equal(got, want) {
			t.Errorf("%s, in part: %v", name, got)
		}
		// The second epoch reads what follows the cached part.
		if n := elementsOf(s, "read"); n <= 2498 || n >= 2*2498 {
			t.Errorf("%s, in part: %d of 2 times 2498 records were read", name, n)
		}
		if o.Dir != "" {
			if st, err := os.Stat(filepath.Join(o.Dir, namesIn(o.Dir)[0])); err != nil || st.Size() > o.Limit || st.Size() < o.Limit/3 {
				t.Errorf("the file of a cache limited to %d: %v, %v", o.Limit, st.Size(), err)
			}
		}
	}
	if _, err := build(CacheOptions{Limit: -1}).Start(t.Context(), From{}); err == nil {
		t.Error("a limit below 0 is taken")
	}
}

// TestCacheBehindMap decodes images once, and trains on the cached result.
func TestCacheBehindMap(t *testing.T) {
	set := imageSet(t, 6, nil)
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	square := augment.ResizeSpec{Square: 8}
	small := func(dst []byte, r Record) ([]byte, error) {
		calls.Add(1)
		var e tfrecord.Example
		if err := e.Parse(r.Data); err != nil {
			return nil, err
		}
		image, _ := e.Get(DefaultImageKey)
		data, _ := image.Bytes()
		f, _ := e.Get(DefaultLabelKey)
		n, _ := f.Int64()
		var large, im augment.Image
		if _, err := codec.Decode(&large, data, augment.DecodeOptions{Channels: 3}); err != nil {
			return nil, err
		}
		if err := square.Apply(&im, &large, nil); err != nil {
			return nil, err
		}
		var b tfrecord.Builder
		b.Bytes(DefaultImageKey, im.Pix)
		b.Bytes("image/format", []byte("raw"))
		b.Int64("image/height", 8)
		b.Int64("image/width", 8)
		b.Int64("image/channels", 3)
		b.Int64(DefaultLabelKey, n)
		return b.Append(dst), nil
	}
	text := func(b *ImageBatch) string { return fmt.Sprint(b.Labels, b.Bytes) }
	spec := ImageSpec{Resize: square, Batch: 5}
	collect := func(p Pipe) (all []string) {
		for b, err := range Images(p, spec).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text(b))
		}
		return all
	}
	want := collect(set.Records().Repeat(3))
	for name, o := range caches(t) {
		calls.Store(0)
		p := MapData(set.Records(), small, MapDataOptions{}).Cache(o).Repeat(3)
		if got := collect(p); !slices.Equal(got, want) || calls.Load() != 12 {
			t.Errorf("%s: other pictures, or %d calls for 12", name, calls.Load())
		}
		checkResume(t, Images(p, spec), text)
		if o.Dir != "" && calls.Load() != 12 {
			t.Errorf("%s: %d calls for 12, resumed with a whole cache", name, calls.Load())
		}
	}
}

// TestEmptyCache has nothing to cache.
func TestEmptyCache(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 3)
	for name, o := range caches(t) {
		for range 2 {
			if got := idsOf(t, open(t, dir, Options{}).Records().Take(0).Cache(o).Repeat(2)); len(got) > 0 {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}
