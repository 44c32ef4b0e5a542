package convert

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/tfrec/tfrec/internal/setdir"
)

// writers takes pieces in order and puts the shards of a run in place. A finished shard is synced
// and renamed in the background while the next one is written.
type writers struct {
	run *run
	// inTurn calls a function that puts a shard in place: at once or, for a task of an array job,
	// when no duplicate of the task is doing the same.
	inTurn  func(file string, put func() error) error
	made    func(job int, done *setdir.Done)
	open    *openShard          // nil before the first piece
	commits *semaphore.Weighted // of commitMemory

	background sync.WaitGroup
	mu         sync.Mutex
	err        error // first error of the background
}

// openShard is a shard being written.
type openShard struct {
	job         int
	w           *setdir.Writer
	done        setdir.Done
	fingerprint fingerprint
	labels      map[int32]int64
	samples     int64 // counted in Progress.Done
	framed      int64 // counted in Progress.BytesOut
}

// Small shards are committed many at a time, so that they share fsyncs of directories, or the
// latency of a store; of large ones, two are. What they hold is estimated: buffers of an upload, and
// the state as JSON.
const (
	commitMemory = 16 << 20
	leastCommit  = commitMemory / 16
	mostCommit   = commitMemory / 2
	inputMemory  = 256
)

// memory is the estimated memory of a shard while it is committed, between leastCommit and
// mostCommit.
func (o *openShard) memory() int64 {
	return min(max(o.framed+inputMemory*int64(len(o.done.Inputs)), leastCommit), mostCommit)
}

func newWriters(ctx context.Context, r *run, made func(int, *setdir.Done)) *writers {
	ws := &writers{run: r, made: made, commits: semaphore.NewWeighted(commitMemory), inTurn: func(_ string, put func() error) error { return put() }}
	if r.plan != nil {
		ws.inTurn = func(file string, put func() error) error { return r.dir.WithLock(ctx, file, put) }
	}
	return ws
}

// add adds the next piece. That of endOfShard ends the open shard.
func (ws *writers) add(job int, p *piece) error {
	if job == endOfShard {
		return ws.commit()
	}
	if ws.open == nil {
		if err := ws.start(job); err != nil {
			return ofJob(job, err)
		}
	}
	o := ws.open
	if err := o.w.WriteFrames(p.frames, p.sizes); err != nil {
		return ofJob(job, err)
	}
	for _, l := range p.labels {
		o.labels[l]++
	}
	o.done.Filtered += p.filtered
	o.done.Annotations += p.annotations
	o.done.AnnotationsDropped += p.dropped
	o.done.Bad = append(o.done.Bad, p.bad...)
	o.done.Inputs = append(o.done.Inputs, p.inputs...)
	o.fingerprint.h.Write(p.identity)

	progress := ws.run.progress
	o.samples += p.samples
	o.framed += int64(len(p.frames))
	progress.Done.Add(p.samples)
	progress.Errors.Add(int64(len(p.bad)))
	progress.BytesIn.Add(p.bytesIn)
	progress.BytesOut.Add(int64(len(p.frames)))
	return nil
}

func (ws *writers) start(job int) error {
	j := ws.run.jobs[job]
	w, err := ws.run.into().Create(j.name.String(), setdir.WriterOptions{Compression: ws.run.Compression})
	if err != nil {
		return err
	}
	ws.open = &openShard{
		job: job, w: w, done: setdir.Done{Samples: j.samples, Source: ws.run.source.place(), Plan: ws.run.plan.id()},
		fingerprint: ws.run.shardFingerprint(j.name.String()), labels: map[int32]int64{},
	}
	return nil
}

// commit starts committing the open shard, once there is room.
func (ws *writers) commit() error {
	o := ws.open
	ws.open = nil
	n := o.memory()
	_ = ws.commits.Acquire(context.Background(), n) // commits end by themselves when a run is stopped
	ws.background.Go(func() {
		err := ws.put(o)
		ws.commits.Release(n)
		if err != nil {
			ws.uncount(o)
			ws.mu.Lock()
			if ws.err == nil {
				ws.err = ofJob(o.job, err)
			}
			ws.mu.Unlock()
		}
	})
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.err
}

// put puts a shard in place and records its state.
func (ws *writers) put(o *openShard) error {
	name := ws.run.jobs[o.job].name.String()
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
		info.Labels = ws.run.source.labelCounts(o.labels)
		o.done.Shard = info
		err = ws.run.into().PutDone(&o.done)
		o.done.Inputs = nil // they are recorded, and would take more memory than the plan
		return err
	})
	if err != nil {
		return err
	}
	ws.run.progress.Finished.Add(1)
	ws.made(o.job, &o.done)
	return nil
}

// twins returns the state of an open shard that a faster duplicate of this task has put in place;
// nil if there is none.
func (ws *writers) twins(name string, o *openShard) *setdir.Done {
	if ws.run.plan == nil {
		return nil
	}
	done := ws.run.into().Done(name, false)
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

// close discards the open shard, if the run failed with err, and waits for the background. It
// returns the first error of all.
func (ws *writers) close(err error) error {
	if ws.open != nil {
		ws.open.w.Abort()
		ws.uncount(ws.open)
	}
	ws.background.Wait()
	if err == nil {
		err = ws.err
	}
	return err
}
