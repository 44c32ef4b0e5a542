package plan

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/tfrec/tfrec/internal/set/setdir"
)

// writers takes pieces, in the order of each shard, and puts the shards of a run in place. Each shard
// is compressed, hashed, written, synced and renamed by its own goroutine, while the pieces of others
// arrive.
type writers struct {
	run *run
	// inTurn calls a function that puts a shard in place: at once or, for a task of an array job,
	// when no duplicate of the task is doing the same.
	inTurn func(file string, put func() error) error
	made   func(shard int, done *setdir.Done)
	open   map[int]*openShard  // whose pieces arrive, by shard
	ended  *semaphore.Weighted // of endedMemory: shards all of whose pieces arrived

	// How many shards have their samples made in turns, at most how many, and what decides it.
	turns   atomic.Int64
	most    int64
	waiting atomic.Int64 // bytes of pieces that are not written
	period  period

	background sync.WaitGroup
	mu         sync.Mutex
	err        error // first error of the background
}

// openShard is a shard being written.
type openShard struct {
	shard  int
	pieces chan *Piece // in order; closed after the last one, and what follows is set before
	whole  bool        // these are all pieces
	weight int64       // of writers.ended

	given  int64 // bytes of pieces so far, for memory
	inputs int64 // of pieces so far

	// Of the shard's goroutine.
	w           *setdir.Writer
	done        setdir.Done
	fingerprint fingerprint
	labels      map[int32]int64
	samples     int64 // counted in Progress.Done
	framed      int64 // counted in Progress.BytesOut
}

// Small shards are finished many at a time, so that they use all processors and share fsyncs of
// directories, or the latency of a store. Of large shards, at most two are finished while the
// pieces of a third arrive, because unfinished shards are lost if the process is killed.
const (
	endedMemory  = 16 << 20
	leastEnded   = endedMemory / 16
	mostEnded    = endedMemory / 2
	inputMemory  = 256 // of an input in a state, as JSON
	uploadMemory = 8 << 20
	endedShare   = 32 // bytes of a shard that count as one
)

// memory is the share of endedMemory that a shard takes until it is in place.
func (ws *writers) memory(o *openShard) int64 {
	n := o.given/endedShare + inputMemory*o.inputs
	if ws.run.dir.Remote() {
		n += min(o.given, uploadMemory)
	}
	return min(max(n, leastEnded), mostEnded)
}

func newWriters(ctx context.Context, r *run, made func(int, *setdir.Done)) *writers {
	ws := &writers{
		run: r, made: made, open: map[int]*openShard{}, most: 1, period: period{began: time.Now()},
		ended: semaphore.NewWeighted(endedMemory), inTurn: func(_ string, put func() error) error { return put() },
	}
	ws.turns.Store(1)
	if r.source.AnyOrder() {
		ws.most = int64(min(r.workers, mostTurns))
	}
	if r.plan != nil {
		ws.inTurn = func(file string, put func() error) error { return r.dir.WithLock(ctx, file, put) }
	}
	return ws
}

// add adds the next piece of a shard, and frees it when it is written. The piece of a nil task ends
// the shard. It returns the first error of all shards so far.
func (ws *writers) add(t numbered, p *Piece) error {
	o := ws.open[t.shard]
	if o == nil {
		o = ws.start(t.shard)
	}
	if t.run == nil {
		p.free()
		ws.end(o, true)
		return ws.failure()
	}
	o.given += int64(len(p.Frames))
	o.inputs += int64(len(p.inputs))
	ws.period.add(ws.waiting.Add(p.size()) > ws.lateBytes())
	select {
	case o.pieces <- p:
	default:
		began := time.Now()
		o.pieces <- p
		ws.period.blocked += time.Since(began)
	}
	if n := ws.turns.Load(); ws.period.late() && n < ws.most && n == int64(len(ws.open)) {
		ws.turns.Add(1)
	}
	return ws.failure()
}

// lateBytes is the size of pieces that are not written above which their shards are late: half of
// what may be held.
func (ws *writers) lateBytes() int64 {
	if m := ws.run.memory; m > 0 {
		return min(heldBytes, m) / 2
	}
	return heldBytes / 2
}

// free frees a piece that was added.
func (ws *writers) free(p *Piece) {
	ws.waiting.Add(-p.size())
	p.free()
}

func (ws *writers) failure() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.err
}

func (ws *writers) start(shard int) *openShard {
	j := ws.run.shards[shard]
	o := &openShard{
		shard: shard, pieces: make(chan *Piece, window(ws.run.workers)),
		done:        setdir.Done{Samples: j.Samples, Source: ws.run.source.Place(), Plan: ws.run.plan.id()},
		fingerprint: ws.run.shardFingerprint(j.Name.String()), labels: map[int32]int64{},
	}
	ws.open[shard] = o
	ws.background.Go(func() {
		if err := ws.write(o); err != nil {
			ws.mu.Lock()
			if ws.err == nil {
				ws.err = ofShard(o.shard, err)
			}
			ws.mu.Unlock()
		}
		ws.ended.Release(o.weight)
	})
	return o
}

// end ends an open shard, once there is room for it among those that are not in place yet.
func (ws *writers) end(o *openShard, whole bool) {
	delete(ws.open, o.shard)
	if whole {
		o.whole, o.weight = true, ws.memory(o)
		_ = ws.ended.Acquire(context.Background(), o.weight) // shards that ended need nothing more to get in place
	}
	close(o.pieces)
}

// write writes a shard and puts it in place, or discards it.
func (ws *writers) write(o *openShard) error {
	err := ws.fill(o)
	for p := range o.pieces { // after an error
		ws.free(p)
	}
	if err == nil && o.whole {
		err = ws.put(o)
	} else if o.w != nil {
		o.w.Abort()
	}
	if err != nil || !o.whole {
		ws.uncount(o)
	}
	return err
}

// fill creates a shard and writes its pieces.
func (ws *writers) fill(o *openShard) (err error) {
	name := ws.run.shards[o.shard].Name.String()
	o.w, err = ws.run.into().Create(name, setdir.WriterOptions{Compression: ws.run.Compression})
	if err != nil {
		return err
	}
	for p := range o.pieces {
		err := ws.writePiece(o, p)
		ws.free(p)
		if err != nil {
			return err
		}
	}
	return nil
}

func (ws *writers) writePiece(o *openShard, p *Piece) error {
	if err := o.w.WriteFrames(p.Frames, p.Sizes); err != nil {
		return err
	}
	for _, l := range p.Labels {
		o.labels[l]++
	}
	o.done.Filtered += p.Filtered
	o.done.Annotations += p.Annotations
	o.done.AnnotationsDropped += p.Dropped
	o.done.Deep += p.Deep
	o.done.Narrowed += p.Narrowed
	o.done.AlphaDropped += p.AlphaDropped
	o.done.Bad = append(o.done.Bad, p.Bad...)
	o.done.Inputs = append(o.done.Inputs, p.inputs...)
	o.fingerprint.h.Write(p.Identity)

	progress := ws.run.progress
	o.samples += p.Samples
	o.framed += int64(len(p.Frames))
	progress.Done.Add(p.Samples)
	progress.Errors.Add(int64(len(p.Bad)))
	progress.BytesIn.Add(p.BytesIn)
	progress.BytesOut.Add(int64(len(p.Frames)))
	return nil
}

// put puts a shard in place and records its state.
func (ws *writers) put(o *openShard) error {
	name := ws.run.shards[o.shard].Name.String()
	err := ws.inTurn(name, func() error {
		if done := ws.twins(name, o); done != nil {
			o.w.Abort()
			o.done = *done
			return nil
		}
		info, err := o.w.Commit()
		if err != nil {
			return err
		}
		info.Fingerprint = o.fingerprint.String()
		info.Labels = ws.run.source.LabelCounts(o.labels)
		info.Deep, info.Narrowed = o.done.Deep, o.done.Narrowed
		o.done.Shard = info
		err = ws.run.into().Shards().PutDone(&o.done)
		o.done.Inputs = nil // they are recorded, and would take more memory than the plan
		return err
	})
	if err != nil {
		return err
	}
	ws.run.progress.Finished.Add(1)
	ws.made(o.shard, &o.done)
	return nil
}

// twins returns the state of an open shard that a faster duplicate of this task has put in place;
// nil if there is none.
func (ws *writers) twins(name string, o *openShard) *setdir.Done {
	if ws.run.plan == nil {
		return nil
	}
	done := ws.run.into().Shards().Done(name, false)
	if done == nil || done.Plan != ws.run.plan.id() || done.Fingerprint != o.fingerprint.String() {
		return nil
	}
	return done
}

// uncount removes a failed shard from the progress, so that another attempt does not count its
// samples twice.
func (ws *writers) uncount(o *openShard) {
	progress := ws.run.progress
	progress.Done.Add(-o.samples)
	progress.Errors.Add(-int64(len(o.done.Bad)))
	progress.BytesOut.Add(-o.framed)
}

// close discards the open shards, if the run failed with err, and waits for the others. It returns
// the first error of all.
func (ws *writers) close(err error) error {
	for _, o := range ws.open {
		ws.end(o, false)
	}
	ws.background.Wait()
	if err == nil {
		err = ws.err
	}
	return err
}
