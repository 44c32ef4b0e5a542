package reader

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// inStore puts the files of a directory into an object store, and returns their URL.
func inStore(t *testing.T, dir string) (*storagetest.Store, string) {
	t.Helper()
	s := storagetest.New()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s.Put("set/"+e.Name(), data)
	}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	return s, "mem://store/set"
}

// largeShards writes two files of records of some 4 KiB.
func largeShards(t *testing.T, each int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 2 {
		records := make([][]byte, each)
		for k := range records {
			records[k] = append(readertest.Numbered(i, k), make([]byte, 4<<10)...)
		}
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	return dir
}

// The global order of files in a store is that on disk. Records near each other are requested
// together, and the number of requests in flight is bounded.
func TestShuffleAllOfAStore(t *testing.T) {
	const each = 1000
	dir := largeShards(t, each)
	store, url := inStore(t, dir)
	var opens atomic.Int64
	store.Fault = func(kind, _ string) error {
		if kind == "open" {
			opens.Add(1)
		}
		return nil
	}
	for name, c := range map[string]struct {
		memory int64
		stride int64
		most   int64 // requests
	}{
		"plenty of memory": {64 << 20, 1, 250},
		"little":           {4 << 20, 1, 2 * each},
		"a sparse index":   {64 << 20, 4, 250},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Seed: 3, Memory: c.memory}
			here, there := open(t, dir, o), open(t, url, o)
			for _, set := range []*Set{here, there} {
				indexes, err := set.files.AllIndexes(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range indexes {
					var some []int64
					for i := int64(0); i < int64(len(x.Offsets)); i += c.stride {
						some = append(some, x.Offsets[i])
					}
					x.Stride, x.Offsets = c.stride, some
				}
			}
			want := idsOf(t, here.ShuffleAll(ShuffleAllOptions{}))
			opens.Store(0)
			s, err := there.ShuffleAll(ShuffleAllOptions{}).Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := rest(t, s); !slices.Equal(got, want) || len(got) != 2*each {
				t.Errorf("%d records, not in the order of the %d on the disk", len(got), len(want))
			}
			if n := opens.Load(); n > c.most {
				t.Errorf("%d requests for %d records, want %d at most", n, 2*each, c.most)
			} else {
				t.Logf("%d requests for %d records", n, 2*each)
			}
			if m := s.run.(*stages.Stream).Run.Budget.Snapshot(); m.Peak > m.Limit {
				t.Errorf("%d bytes in flight, and %d were given", m.Peak, m.Limit)
			}
		})
	}
}

// A replaced object is noticed, wherever it is read next.
func TestReplacedObjectIsNoticed(t *testing.T) {
	dir := largeShards(t, 100)
	for name, order := range map[string]func(*Set) Pipe{
		"global":      func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
		"interleaved": func(s *Set) Pipe { return s.Interleave(2, 1) },
	} {
		store, url := inStore(t, dir)
		set := open(t, url, Options{})
		store.Put("set/n-00001.tfrecord", store.Get("set/n-00001.tfrecord"))
		var last error
		for _, err := range order(set).All(t.Context()) {
			last = err
		}
		if !errors.Is(last, ErrChanged) || !strings.Contains(last.Error(), url+"/n-00001.tfrecord") {
			t.Errorf("%s: %v, want ErrChanged", name, last)
		}
	}
}
