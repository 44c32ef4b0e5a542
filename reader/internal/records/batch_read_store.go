package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// Records in an object store at most nearStored bytes apart are requested together, up to RunStored
// bytes: transferring the gap takes about as long as another request on two processors. A batch
// read has up to mostLanes requests in flight, and there are up to storedErrands batch reads of at
// most storedErrand bytes each: the larger they are, the closer together their records.
const (
	nearStored    = 64 << 10
	RunStored     = 4 << 20
	mostLanes     = 8
	storedErrands = 3
	storedErrand  = 64 << 20
)

// FirstStored is the number of records in the first batch read of an epoch. Each later one is twice
// as large as the one before; the small start keeps the first records from being late.
const FirstStored = 128

// share is the part of the memory limit that a batch read may use for its records.
func (g *Global) share() int64 {
	o := g.run.Opts
	switch {
	case g.Kept != nil:
		return min(o.Memory/32, maxErrand)
	case g.dense:
		return o.Memory / 16 * 5
	case g.stored:
		return min(o.Memory/4/(storedErrands+1), storedErrand)
	}
	return min(o.Memory/4/int64(o.Parallelism+2), maxErrand)
}

// around returns the memory limit for the bytes that a batch read reads around its records.
func (g *Global) around() int64 {
	if g.dense {
		return min(g.run.Opts.Memory/8, storedErrand)
	}
	return g.share()
}

// keep decides whether the set is kept in memory. In a larger set whose records are smaller than
// the gaps read around them, each batch read reads most of the set. So it is as large as possible,
// and the next one is read meanwhile.
func (g *Global) keep() {
	if !g.stored || g.Kept != nil {
		return
	}
	if size, fits := fitsMemory(g.set); fits {
		g.Kept = newResident(&g.Finder, size, len(g.set.Sources()))
		g.run.Budget.Add(size, 0)
	}
}

// most is the maximum number of records of a batch read.
func (g *Global) most() int {
	if g.dense {
		return maxSteps
	}
	return mostSteps
}

// grown returns the maximum of the batch read after one with that many records.
func (g *Global) grown(steps int) int {
	if g.dense && int64(steps) >= g.Bytes()/nearStored {
		return maxSteps // it read most of the set: a larger one reads hardly more
	}
	return min(2*steps, g.most())
}

// mostStored is the number of bytes requested together.
func (g *Global) mostStored() int64 { return min(RunStored, max(g.around()/2, minRoom)) }

// lanes returns how many reads of this many bytes a batch read has in flight.
func (g *Global) lanes(around int64) int64 {
	if !g.stored {
		return 1
	}
	return min(max(g.around()/max(around, 1), 1), mostLanes)
}

// mostSent returns the maximum number of batch reads in flight, not counting the one being
// consumed.
func (g *Global) mostSent() int {
	if g.dense {
		return 1
	}
	if g.stored {
		return storedErrands
	}
	return g.readers.Size() + 1
}

// readStored reads all requests, several stretches concurrently.
func (e *batchRead) readStored(ctx context.Context, b *pipeline.Block) {
	g := e.global
	var next sync.Mutex // guards rest
	rest := e.wants
	take := func() (wants []fileset.ReadRequest, end int64) {
		next.Lock()
		defer next.Unlock()
		if len(rest) == 0 || ctx.Err() != nil {
			return nil, 0
		}
		n, end := g.together(rest)
		wants, rest = rest[:n], rest[n:]
		return wants, end
	}
	var around int64
	for left := e.wants; len(left) > 0; {
		n, end := g.together(left)
		around, left = max(around, end-left[0].Begin), left[n:]
	}
	var lanes sync.WaitGroup
	var picking sync.Mutex // b is not safe for concurrent use
	for i := range g.lanes(around) {
		scratch := e.scratch[i*around : (i+1)*around]
		lanes.Go(func() {
			for {
				wants, end := take()
				if wants == nil || !g.readers.Enter(ctx) {
					return
				}
				e.readStretch(ctx, b, wants, scratch[:end-wants[0].Begin], &picking)
			}
		})
	}
	lanes.Wait()
}

// readStretch reads requests of one file into p, which is as large as the stretch. It leaves the
// readers' gate.
func (e *batchRead) readStretch(ctx context.Context, b *pipeline.Block, wants []fileset.ReadRequest, p []byte, picking *sync.Mutex) {
	g := e.global
	watch := g.stats.Watch()
	file, done, err := g.File(ctx, wants[0].File)
	n := 0
	if err == nil {
		defer done()
		n, err = file.ReadAt(p, wants[0].Begin)
		if err == io.EOF {
			err = nil
		}
		if err != nil {
			err = g.unreadable(&wants[0], err)
		}
	}
	g.readers.Leave()
	watch.Waited()
	if err == nil && !g.run.Acquire(ctx) {
		return // no request needs it
	}
	picking.Lock()
	defer picking.Unlock()
	if err != nil {
		e.failAll(wants, err)
		return
	}
	watch.Blocked()
	for i := range wants {
		e.pick(b, &wants[i], p[:n], wants[0].Begin, file)
	}
	g.run.Release()
	watch.Busy()
}

// unreadable returns the error of a request whose bytes could not be read.
func (g *Global) unreadable(w *fileset.ReadRequest, err error) error {
	if errors.Is(err, storage.ErrChanged) {
		err = fmt.Errorf("%w: %w", fileset.ErrChanged, err)
	}
	return &tfrecord.Error{Name: g.set.Sources()[w.File].Path, Record: w.Number, Offset: w.Begin, Part: tfrecord.PartData, Err: err}
}

// inWindow reads from data, which begins at base of a file, if that is known.
type inWindow struct {
	data []byte
	base int64
	file storage.File
	run  *pipeline.Run // nil: nothing is logged
}

func (w inWindow) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, w.data[min(max(off-w.base, 0), int64(len(w.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Refetch fetches again what tfrecord found to be damaged.
func (w inWindow) Refetch(p []byte, off int64, good func([]byte) bool) (bool, error) {
	changed, err := storage.Refetch(w.file, p, off, good)
	w.run.LogRefetched(w.file, off, len(p), changed, err)
	if changed {
		copy(w.data[min(max(off-w.base, 0), int64(len(w.data))):], p)
	}
	return changed, err
}
