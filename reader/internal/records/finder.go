package records

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/tfrec/tfrec/internal/storage"
)

// finder locates the records of a set.
type finder struct {
	set     *Set
	indexes []*FileIndex
	starts  []int64 // number in the set of the first record of each file; the total last
	mu      sync.Mutex
	open    []storage.File
}

// keptOpen is the maximum number of files kept open; in larger sets each file is opened for each
// read.
const keptOpen = 256

// find initialises the finder. What must be read of whole files for it is read by load, unless that is
// nil.
func (f *finder) find(ctx context.Context, set *Set, load loader) error {
	if f.set != nil {
		return nil
	}
	indexes, err := set.allIndexesBy(ctx, load)
	if err != nil {
		return err
	}
	starts := make([]int64, 1, len(indexes)+1)
	for i, x := range indexes {
		if !x.plain {
			return fmt.Errorf("%s: it can only be read sequentially, and a global order needs random access: write it uncompressed, or shuffle with a buffer", set.sources[i].Path)
		}
		starts = append(starts, starts[i]+x.Records)
	}
	f.set, f.indexes, f.starts = set, indexes, starts
	f.open = make([]storage.File, len(indexes))
	return nil
}

func (f *finder) total() int64 { return f.starts[len(f.starts)-1] }

// bytes returns the total size of the records, with framing.
func (f *finder) bytes() (n int64) {
	for _, x := range f.indexes {
		n += x.size
	}
	return n
}

// stride returns the maximum number of records among which one must be looked for.
func (f *finder) stride() (n int64) {
	for _, x := range f.indexes {
		n = max(n, x.Stride)
	}
	return n
}

// locate returns the location of record n of the set.
func (f *finder) locate(n int64) readRequest {
	i := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > n }) - 1
	return f.locateIn(i, n)
}

// locateIn returns the location of record n of the set, which is in file i.
func (f *finder) locateIn(i int, n int64) readRequest {
	w := readRequest{file: int32(i), number: n - f.starts[i]}
	w.begin, w.end, w.skip = f.indexes[i].span(w.number)
	return w
}

// locateAll appends the locations of records, which are sorted.
func (f *finder) locateAll(dst []readRequest, sorted []orderStep) []readRequest {
	file := 0
	for _, s := range sorted {
		for f.starts[file+1] <= s.record() {
			file++
		}
		w := f.locateIn(file, s.record())
		w.step = s.index()
		dst = append(dst, w)
	}
	return dst
}

// file opens file i. The caller calls done when it no longer needs the file. ctx is the context of
// all reading: the file may stay open until close.
func (f *finder) file(ctx context.Context, i int32) (file storage.File, done func() error, err error) {
	if len(f.open) > keptOpen {
		file, err = f.set.openAnywhere(ctx, int(i))
		if err != nil {
			return nil, nil, err
		}
		return file, file.Close, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[i] == nil {
		if f.open[i], err = f.set.openAnywhere(ctx, int(i)); err != nil {
			f.open[i] = nil
			return nil, nil, err
		}
	}
	return f.open[i], func() error { return nil }, nil
}

func (f *finder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, file := range f.open {
		if file != nil {
			file.Close()
			f.open[i] = nil
		}
	}
}

// readRequest is a record to read.
type readRequest struct {
	step       int // of the batch read
	file       int32
	number     int64
	begin, end int64 // where to look
	skip       int64 // after this many records
}

// orderStep is the number of a record in the set, with its index in a batch read.
type orderStep uint64

// stepBits bounds the index.
const stepBits = 20

func newOrderStep(record int64, index int) orderStep {
	return orderStep(record<<stepBits | int64(index))
}

func (s orderStep) record() int64 { return int64(s >> stepBits) }
func (s orderStep) index() int    { return int(s & (1<<stepBits - 1)) }
