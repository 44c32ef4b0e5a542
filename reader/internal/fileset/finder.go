package fileset

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Finder locates the records of a set.
type Finder struct {
	Set     *Set
	Indexes []*FileIndex
	starts  []int64 // number in the set of the first record of each file; the total last
	mu      sync.Mutex
	open    []storage.File
}

// keptOpen is the maximum number of files kept open; in larger sets each file is opened for each
// read.
const keptOpen = 256

// Find initialises the finder. What must be read of whole files for it is read by load, unless that is
// nil.
func (f *Finder) Find(ctx context.Context, set *Set, load Loader) error {
	if f.Set != nil {
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
	f.Set, f.Indexes, f.starts = set, indexes, starts
	f.open = make([]storage.File, len(indexes))
	return nil
}

func (f *Finder) Total() int64 { return f.starts[len(f.starts)-1] }

// Bytes returns the total size of the records, with framing.
func (f *Finder) Bytes() (n int64) {
	for _, x := range f.Indexes {
		n += x.Size
	}
	return n
}

// Stride returns the maximum number of records among which one must be looked for.
func (f *Finder) Stride() (n int64) {
	for _, x := range f.Indexes {
		n = max(n, x.Stride)
	}
	return n
}

// locate returns the location of record n of the set.
func (f *Finder) locate(n int64) ReadRequest {
	i := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > n }) - 1
	return f.locateIn(i, n)
}

// locateIn returns the location of record n of the set, which is in file i.
func (f *Finder) locateIn(i int, n int64) ReadRequest {
	w := ReadRequest{File: int32(i), Number: n - f.starts[i]}
	w.Begin, w.End, w.Skip = f.Indexes[i].span(w.Number)
	return w
}

// LocateAll appends the locations of records, which are sorted.
func (f *Finder) LocateAll(dst []ReadRequest, sorted []OrderStep) []ReadRequest {
	file := 0
	for _, s := range sorted {
		for f.starts[file+1] <= s.record() {
			file++
		}
		w := f.locateIn(file, s.record())
		w.Step = s.index()
		dst = append(dst, w)
	}
	return dst
}

// File opens file i. The caller calls done when it no longer needs the file. ctx is the context of
// all reading: the file may stay open until close.
func (f *Finder) File(ctx context.Context, i int32) (file storage.File, done func() error, err error) {
	if len(f.open) > keptOpen {
		file, err = f.Set.OpenAnywhere(ctx, int(i))
		if err != nil {
			return nil, nil, err
		}
		return file, file.Close, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open[i] == nil {
		if f.open[i], err = f.Set.OpenAnywhere(ctx, int(i)); err != nil {
			f.open[i] = nil
			return nil, nil, err
		}
	}
	return f.open[i], func() error { return nil }, nil
}

func (f *Finder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, file := range f.open {
		if file != nil {
			file.Close()
			f.open[i] = nil
		}
	}
}

// ReadRequest is a record to read.
type ReadRequest struct {
	Step       int // of the batch read
	File       int32
	Number     int64
	Begin, End int64 // where to look
	Skip       int64 // after this many records
}

// OrderStep is the number of a record in the set, with its index in a batch read.
type OrderStep uint64

// StepBits bounds the index.
const StepBits = 20

func NewOrderStep(record int64, index int) OrderStep {
	return OrderStep(record<<StepBits | int64(index))
}

func (s OrderStep) record() int64 { return int64(s >> StepBits) }
func (s OrderStep) index() int    { return int(s & (1<<StepBits - 1)) }
