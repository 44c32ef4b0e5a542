package shard

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// A directory or a glob in a store costs only list requests, however many files it has, and only
// the path of each file is kept in memory.
func TestExpandInAStore(t *testing.T) {
	const files = 20_000
	s := storagetest.New()
	for i := range files {
		s.Put(fmt.Sprintf("sets/loose/part-%05d.tfrecord", i), nil)
	}
	s.Put("sets/loose/part-00000.tfrecord.idx", nil)
	s.Put("sets/loose/deeper/part.tfrecord", nil)
	s.Put("sets/other/data-00000-of-00001", nil)
	s.Put("sets/other/readme", nil)
	var lists, others atomic.Int64
	s.Fault = func(kind, name string) error {
		if kind == "list" {
			lists.Add(1)
		} else {
			others.Add(1)
		}
		return nil
	}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	for path, want := range map[string]int{
		"mem://store/sets/loose":                     files,
		"mem://store/sets/*/part-*":                  files,
		"mem://store/sets/loose/part-0000?.tfrecord": 10,
		"mem://store/sets/other":                     1,
		"mem://store/sets/oth*":                      1,
	} {
		lists.Store(0)
		others.Store(0)
		before := heapInUse()
		sources, err := Expand(t.Context(), []string{path}, ExpandOptions{})
		if err != nil || len(sources) != want {
			t.Errorf("%s: %d files, %v, want %d", path, len(sources), err, want)
		}
		// To tell an object from a directory, and to look for a manifest.
		if lists.Load() > 6 || others.Load() > 6 {
			t.Errorf("%s: %d lists and %d other requests", path, lists.Load(), others.Load())
		}
		most := int64(unsafe.Sizeof(Source{})) + 48 // for the path, with the allocator's overhead
		if kept := (heapInUse() - before) / int64(max(want, 1)); want == files && kept > 2*most {
			t.Errorf("%s: %d bytes are kept of a file, want %d or little more", path, kept, most)
		}
		runtime.KeepAlive(sources)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
