package reader

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestCacheOnDiskServesLaterRuns resumes at every element, with a cache that is missing, complete,
// or being filled by another run.
func TestCacheOnDiskServesLaterRuns(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 9, 4)
	build := func(cache string) Pipe {
		return open(t, dir, Options{Seed: 1}).Records().Shuffle(4).Cache(CacheOptions{Dir: cache}).Shuffle(3).Repeat(2)
	}
	whole := t.TempDir()
	ids := idsOf(t, build(whole))
	again := started(t, build(whole))
	if got := rest(t, again); !slices.Equal(got, ids) {
		t.Errorf("another run gives %v, want %v", got, ids)
	}
	if n := elementsOf(again, "read"); n != 0 {
		t.Errorf("with a whole cache %d records were read", n)
	}
	busy := t.TempDir()
	filling := started(t, build(busy))
	takeIDs(t, filling, 2)

	for _, from := range []string{whole, t.TempDir()} {
		s := started(t, build(from))
		for k := range len(ids) + 1 {
			state := through(t, s.State())
			for _, cache := range []string{whole, busy, t.TempDir()} {
				r, err := build(cache).Start(t.Context(), From{State: &state})
				if err != nil {
					t.Fatal(err)
				}
				if got := rest(t, r); !slices.Equal(got, ids[k:]) {
					t.Fatalf("after %d: got %v, want %v", k, got, ids[k:])
				}
				r.Close()
			}
			if k < len(ids) {
				takeIDs(t, s, 1)
			}
		}
	}
	if got := rest(t, filling); !slices.Equal(got, ids[2:]) {
		t.Errorf("who fills it gives %v, want %v", got, ids[2:])
	}
	filling.Close()
	if n := len(namesIn(busy)); n != 2 {
		t.Errorf("the folder holds %q", namesIn(busy))
	}
}

func TestBrokenOffCacheLeavesNothing(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900)
	for _, p := range []func(cache string) Pipe{
		func(cache string) Pipe { return open(t, dir, Options{}).Records().Cache(CacheOptions{Dir: cache}) },
		func(cache string) Pipe {
			return open(t, dir, Options{}).Records().Cache(CacheOptions{Dir: cache}).Take(600)
		},
	} {
		cache := t.TempDir()
		s := started(t, p(cache))
		takeIDs(t, s, 600)
		if len(namesIn(cache)) == 0 {
			t.Error("nothing is being filled")
		}
		if _, err := s.Next(); err != nil && err != io.EOF {
			t.Error(err)
		}
		s.Close()
		if names := namesIn(cache); len(names) > 0 {
			t.Errorf("left: %q", names)
		}
	}
}

// TestInterruptedCacheIsDiscarded starts from what a killed process leaves.
func TestInterruptedCacheIsDiscarded(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 20)
	build := func(cache string) Pipe { return open(t, dir, Options{}).Records().Cache(CacheOptions{Dir: cache}) }
	whole := t.TempDir()
	want := idsOf(t, build(whole))
	names := namesIn(whole)
	data, header := names[0], names[1]
	if !strings.HasSuffix(data, ".tfrecord") {
		t.Fatalf("the folder holds %q", names)
	}
	for _, left := range [][]string{
		{data + ".partial"}, {data}, {"cache-00000-of-00001-0123456789abcdef.tfrecord", header + ".12345", "cache-00000-of-00001.lock"},
	} {
		cache := t.TempDir()
		for _, name := range append(left, "other.txt") {
			if err := os.WriteFile(filepath.Join(cache, name), []byte("half"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := idsOf(t, build(cache)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v", left, got)
		}
		if got := namesIn(cache); !slices.Equal(got, append(slices.Clone(names), "other.txt")) {
			t.Errorf("%q: then the folder holds %q", left, got)
		}
	}
}

func TestOtherCacheIsRefused(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 8, 5)
	other := readertest.WriteShards(t, tfrecord.CompressionNone, 8, 6)
	cache := t.TempDir()
	o := CacheOptions{Dir: cache, Version: "1"}
	want := idsOf(t, open(t, dir, Options{}).Records().Cache(o))
	before := namesIn(cache)
	two := o
	two.Version = "2"
	for name, p := range map[string]func(CacheOptions) Pipe{
		"dataset it is of": func(o CacheOptions) Pipe { return open(t, other, Options{}).Records().Cache(o) },
		"stages":           func(o CacheOptions) Pipe { return open(t, dir, Options{}).Interleave(2, 1).Cache(o) },
		"more stages":      func(o CacheOptions) Pipe { return odd(open(t, dir, Options{}).Records()).Cache(o) },
		"version":          func(o CacheOptions) Pipe { o.Version = "2"; return open(t, dir, Options{}).Records().Cache(o) },
	} {
		_, err := p(o).Start(t.Context(), From{})
		if !errors.Is(err, ErrOtherCache) || !strings.Contains(err.Error(), cache) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Workers do not interfere with each other.
	for i := range 2 {
		p := open(t, dir, Options{Worker: i, Workers: 2}).Records().Cache(o)
		if got, again := idsOf(t, p), idsOf(t, p); !slices.Equal(got, again) {
			t.Errorf("worker %d: %v, then %v", i, got, again)
		}
	}
	if got := idsOf(t, open(t, dir, Options{}).Records().Cache(o)); !slices.Equal(got, want) {
		t.Errorf("the cache was spoiled: %v", got)
	}
	two.Replace = true
	if got := idsOf(t, open(t, dir, Options{}).Records().Cache(two)); !slices.Equal(got, want) {
		t.Errorf("replaced: %v", got)
	}
	if _, err := open(t, dir, Options{}).Records().Cache(o).Start(t.Context(), From{}); !errors.Is(err, ErrOtherCache) {
		t.Errorf("after it was replaced: %v", err)
	}
	if len(before) != 2 || len(namesIn(cache)) != 6 {
		t.Errorf("the folder holds %q", namesIn(cache))
	}
}

// TestDamagedCacheIsFound changes a cache on disk.
func TestDamagedCacheIsFound(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 300, 300)
	build := func(cache string) Pipe { return open(t, dir, Options{}).Records().Cache(CacheOptions{Dir: cache}) }
	for name, c := range map[string]struct {
		change func(data, header []byte) ([]byte, []byte)
		least  int // records before it
	}{
		"data":   {func(d, h []byte) ([]byte, []byte) { d[len(d)/2] ^= 1; return d, h }, 250},
		"end":    {func(d, h []byte) ([]byte, []byte) { d[len(d)-1] ^= 1; return d, h }, 599},
		"cut":    {func(d, h []byte) ([]byte, []byte) { return d[:len(d)-5], h }, 0},
		"longer": {func(d, h []byte) ([]byte, []byte) { return append(d, 0), h }, 0},
		"no place": {func(d, h []byte) ([]byte, []byte) {
			clear(d)
			copy(d, tfrecord.AppendFrame(nil, make([]byte, len(d)-tfrecord.Overhead)))
			return d, h
		}, 0},
		"header": {func(d, h []byte) ([]byte, []byte) { return d, h[:len(h)/2] }, 0},
		"numbers": {func(d, h []byte) ([]byte, []byte) {
			return d, []byte(strings.Replace(string(h), `"stride":1`, `"stride":0`, 1))
		}, 0},
		"rest": {func(d, h []byte) ([]byte, []byte) {
			return d, []byte(strings.Replace(string(h), `"rest":{"at":null`, `"rest":{"at":[3,7]`, 1))
		}, 0},
		"places": {func(d, h []byte) ([]byte, []byte) {
			return d, []byte(strings.Replace(string(h), `"places":[0,`, `"places":[`, 1))
		}, 0},
		"none": {func(d, h []byte) ([]byte, []byte) {
			head, tail, _ := strings.Cut(strings.Replace(string(h), `"records":600`, `"records":0`, 1), `"places":[0,`)
			return d, []byte(head + `"places":[]` + tail[strings.Index(tail, "]")+1:])
		}, 0},
	} {
		cache := t.TempDir()
		idsOf(t, build(cache))
		names := namesIn(cache)
		var d, h []byte
		readertest.Change(t, filepath.Join(cache, names[1]), func(header []byte) []byte { h = header; return header })
		readertest.Change(t, filepath.Join(cache, names[0]), func(data []byte) []byte { d, h = c.change(data, h); return d })
		readertest.Change(t, filepath.Join(cache, names[1]), func([]byte) []byte { return h })
		ids, err := idsUntil(build(cache))
		if err == nil || !strings.Contains(err.Error(), cache) || !strings.Contains(err.Error(), "delete") {
			t.Errorf("%s: error %v", name, err)
		}
		if numbers := name == "numbers" || name == "rest" || name == "places"; numbers && !strings.Contains(err.Error(), "inconsistent") {
			t.Errorf("%s: it is not the numbers: %v", name, err)
		}
		if len(ids) < c.least || !slices.Equal(ids, readertest.InOrder(300, 300)[:len(ids)]) {
			t.Errorf("%s: %d records before it", name, len(ids))
		}
	}
}

// TestCacheWithoutTheLock has another process fill the cache forever.
func TestCacheWithoutTheLock(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 5)
	cache := t.TempDir()
	lock, err := stages.LockFile(filepath.Join(cache, "cache-00000-of-00001.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stages.LockFile(lock.Name()); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	build := func() Pipe { return open(t, dir, Options{}).Records().Cache(CacheOptions{Dir: cache}).Repeat(2) }
	if got := idsOf(t, build()); !slices.Equal(got, slices.Concat(readertest.InOrder(5), readertest.InOrder(5))) {
		t.Errorf("got %v", got)
	}
	if names := namesIn(cache); len(names) != 1 {
		t.Errorf("the folder holds %q", names)
	}
	stages.UnlockFile(lock)
	idsOf(t, build())
	if names := namesIn(cache); len(names) != 2 {
		t.Errorf("then the folder holds %q", names)
	}
}

// TestCacheByManyAtOnce has runs that share nothing but the directory.
func TestCacheByManyAtOnce(t *testing.T) {
	dir, cache := readertest.WriteShards(t, tfrecord.CompressionNone, 300, 40), filepath.Join(t.TempDir(), "cache")
	want := slices.Repeat(readertest.InOrder(300, 40), 3)
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			for range 3 {
				set, err := Open(t.Context(), dir, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := idsUntil(set.Records().Cache(CacheOptions{Dir: cache}).Repeat(3))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%d records, %v", len(got), err)
				}
			}
		})
	}
	wait.Wait()
	if names := namesIn(cache); len(names) != 2 {
		t.Errorf("the folder holds %q", names)
	}
}
