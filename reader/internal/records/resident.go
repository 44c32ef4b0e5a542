package records

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// resident keeps what was read of a set in an object store in memory, so that nothing of a set that
// fits is requested twice, in later epochs neither. It is filled in blocks, by one batch read at a
// time.
type resident struct {
	finder *fileset.Finder
	size   int64         // of the files
	turn   chan struct{} // of the batch read that fills it
	Data   [][]byte      // of each file, from its first use on
	have   [][]bool      // which blocks of it
	Mend   sync.RWMutex  // excludes the replacement of data
}

// residentBlock is the size in bytes of the blocks kept in memory: transferring one takes about as
// long as a request.
const residentBlock = nearStored

// fitsMemory returns the size of a set's files, and whether they are kept in memory: if they take
// up to five eighths of the limit, which leaves an eighth for reading ahead, and a quarter for
// elements that the consumer waits for.
func fitsMemory(set *fileset.Set) (size int64, fits bool) {
	size = set.Size()
	return size, size <= set.Opts.Memory/8*5
}

// neededMemory returns the limit with which a set is kept in memory.
func neededMemory(size int64) int64 { return (size + 4) / 5 * 8 }

func newResident(f *fileset.Finder, size int64, files int) *resident {
	return &resident{finder: f, size: size, turn: make(chan struct{}, 1), Data: make([][]byte, files), have: make([][]bool, files)}
}

// load makes file i resident as a whole, and returns what it contains: counting its records reads
// it anyway.
func (r *resident) load(i int, f storage.File, size int64) (io.ReaderAt, error) {
	data := make([]byte, size)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(f, data); err != nil && err != io.EOF {
		return nil, err
	}
	r.Data[i], r.have[i] = data, make([]bool, (size+residentBlock-1)/residentBlock)
	for k := range r.have[i] {
		r.have[i][k] = true
	}
	return inWindow{data, 0, f, nil}, nil
}

// blockRun is a run of blocks of a file to request.
type blockRun struct {
	file       int32
	begin, end int64 // blocks
	err        error
}

// fill makes everything that the requests need resident. It returns the stretches that could not be
// read.
func (r *resident) fill(ctx context.Context, e *batchRead) (failed []blockRun) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil
	}
	near := int64(1)
	if g := e.global; g.run.Opts.Workers == 1 && len(e.steps) > FirstStored {
		near = RunStored / residentBlock // all of it will be needed
	}
	missing := r.missing(e.wants, near)
	var next atomic.Int64
	var lanes sync.WaitGroup
	for range min(len(missing), 2*mostLanes) {
		lanes.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(missing) || !e.global.readers.Enter(ctx) {
					return
				}
				s := &missing[i]
				s.err = r.request(ctx, s)
				e.global.readers.Leave()
			}
		})
	}
	lanes.Wait()
	for i, s := range missing {
		switch {
		case s.err != nil:
			failed = append(failed, s)
		case i < int(next.Load()) && ctx.Err() == nil:
			have := r.have[s.file]
			for k := s.begin; k < s.end; k++ {
				have[k] = true
			}
		}
	}
	return failed
}

// missing returns the stretches to request, up to RunStored bytes each, for requests in file order.
// Those at most near blocks apart are one if none of the blocks between them is there.
func (r *resident) missing(wants []fileset.ReadRequest, near int64) (all []blockRun) {
	for _, w := range wants {
		if r.Data[w.File] == nil {
			size := r.finder.Indexes[w.File].Size
			r.Data[w.File] = make([]byte, size)
			r.have[w.File] = make([]bool, (size+residentBlock-1)/residentBlock)
		}
		have := r.have[w.File]
		for k := w.Begin / residentBlock; k*residentBlock < w.End; k++ {
			if have[k] {
				continue
			}
			if n := len(all); n > 0 && all[n-1].file == w.File {
				last := &all[n-1]
				if k < last.end {
					continue
				}
				if k-last.end <= near && (k+1-last.begin)*residentBlock <= RunStored && !slices.Contains(have[last.end:k], true) {
					last.end = k + 1
					continue
				}
			}
			all = append(all, blockRun{file: w.File, begin: k, end: k + 1})
		}
	}
	return all
}

// request reads a stretch, of a file opened for it: one that is kept open would read ahead.
func (r *resident) request(ctx context.Context, s *blockRun) error {
	file, err := r.finder.Set.OpenAnywhere(ctx, int(s.file))
	if err != nil {
		return err
	}
	defer file.Close()
	data, begin := r.Data[s.file], s.begin*residentBlock
	p := data[begin:min(s.end*residentBlock, int64(len(data)))]
	if n, err := file.ReadAt(p, begin); n < len(p) {
		return err
	}
	return nil
}

// readResident picks all requests out of memory.
func (e *batchRead) readResident(ctx context.Context, b *pipeline.Block, failed []blockRun) {
	g := e.global
	kept := g.Kept
	kept.Mend.RLock()
	defer kept.Mend.RUnlock()
	for i := range e.wants {
		w := &e.wants[i]
		for len(failed) > 0 && (failed[0].file < w.File || failed[0].file == w.File && failed[0].end*residentBlock <= w.Begin) {
			failed = failed[1:]
		}
		if len(failed) > 0 && failed[0].file == w.File && failed[0].begin*residentBlock < w.End {
			e.fail(w.Step, pipeline.Fault{File: w.File, Err: g.unreadable(w, failed[0].err)})
			continue
		}
		file, done, err := g.File(ctx, w.File)
		if err != nil {
			e.fail(w.Step, pipeline.Fault{File: w.File, Err: err})
			continue
		}
		data, before := kept.Data[w.File][w.Begin:w.End], len(e.failed)
		e.pick(b, w, data, w.Begin, file)
		if len(e.failed) > before && kept.again(e.global.run, file, data, w.Begin) {
			e.failed = e.failed[:before]
			e.pick(b, w, data, w.Begin, file)
		}
		done()
	}
}

// again requests data that contains damage, which begins at offset, once more: bits may have
// flipped on their way. It reports whether the data are worth another look. The caller is one of
// those who hold mend.
func (r *resident) again(run *pipeline.Run, file storage.File, data []byte, offset int64) bool {
	fresh := slices.Clone(data)
	r.Mend.RUnlock()
	defer r.Mend.RLock()
	changed, err := storage.Refetch(file, fresh, offset, nil)
	run.LogRefetched(file, offset, len(fresh), changed, err)
	if err != nil || !changed {
		return false
	}
	r.Mend.Lock()
	defer r.Mend.Unlock()
	copy(data, fresh)
	return true
}
