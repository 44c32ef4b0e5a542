package flows

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// workers is a running flow of values made by workers. In each epoch one goroutine cuts portions
// and hands them out, and the caller of next receives them back. The workers persist across epochs.
type workers[T any] struct {
	WorkerSpec[T]
	stream *stages.Stream
	ctx    context.Context
	cancel context.CancelFunc
	start  pipeline.State // of the epoch
	counts *pipeline.Counters

	gate  *pipeline.Gate // workers
	room  *pipeline.Gate // portions in flight
	parts chan part[T]
	ready chan *task[T] // in order, or as they finish; nil ends the epoch
	wait  sync.WaitGroup
	bad   pipeline.SkipCount // skip count up to the last value returned
	idle  idle[*task[T]]

	waiting atomic.Bool // the workers need no tokens: they wait
	growing sync.Mutex
	leaving bool        // no more workers begin; guarded by growing
	closed  atomic.Bool // nothing is made any more

	epoch    context.Context
	leave    context.CancelFunc // ends it
	feeding  sync.WaitGroup     // the goroutine that cuts its portions
	underWay atomic.Int64       // unfinished portions, plus one while more are cut
	ended    error              // error of the cutter; set before the nil in ready
	over     bool               // the nil was received
	first    *task[T]           // taken out of ready but not finished

	alone   func() bool  // only what feed holds is in flight
	payload int64        // payload of the last portion, in bytes
	largest atomic.Int64 // largest value so far, in bytes
}

// underway returns the number of portions in flight with n workers.
func (s *WorkerSpec[T]) underway(n int) int {
	if s.Part == 0 {
		return n
	}
	return n * s.Part / (s.Cut.Size * max(s.Each, 1))
}

// OpenWorkers starts a pipe and the workers on its output.
func OpenWorkers[T any](ctx context.Context, p stages.Pipe, from pipeline.Origin, plan func(*pipeline.Run) (WorkerSpec[T], error)) (Source[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	upCtx, feeder := pipeline.WithCaller(ctx)
	stream, err := p.Start(upCtx, from)
	if err != nil {
		cancel()
		return nil, err
	}
	spec, err := plan(stream.Run)
	if err != nil {
		cancel()
		stream.Close()
		return nil, err
	}
	if err := pipeline.CheckWorkers(spec.Workers); err != nil {
		cancel()
		stream.Close()
		return nil, err
	}
	n, limit := spec.Workers, spec.Workers
	auto := n <= 0
	if auto {
		limit = stream.Run.MostWorkers(spec.waits) + spec.Waiting
		n = min(limit, runtime.GOMAXPROCS(0)+spec.Waiting)
	}
	most := limit
	if auto && spec.mayWait {
		most = stream.Run.MostWorkers(true)
	}
	depth := 1
	if spec.Part > 0 {
		depth = 2
	}
	w := &workers[T]{
		WorkerSpec: spec, stream: stream, ctx: ctx, cancel: cancel, counts: stream.Run.Stats(spec.Name),
		gate: pipeline.NewGate(n), room: pipeline.NewGate(spec.underway(n) + depth),
		ready: make(chan *task[T], spec.underway(most)+pipeline.MostDepth+1), parts: make(chan part[T], most),
	}
	w.WorkerSpec.Cut.stream = stream
	w.waiting.Store(spec.waits)
	stream.Run.Makes(spec.Makes)
	feeder.Labels = pipeline.WithStage(ctx, spec.Name)
	if from.State != nil {
		w.bad = pipeline.SkippedIn(from.State)
	}
	stream.Run.Tally(&w.bad)
	w.alone = func() bool { return w.room.Occupied() == 1 }
	w.counts.Workers.Store(int32(n))
	w.counts.QueueSpace.Store(int32(w.room.Size()))
	if auto {
		k := &pipeline.Knob{
			Stats: w.counts, Pace: pipeline.NewPace(n, 1, limit), Depth: pipeline.NewDepth(depth, 1, pipeline.MostDepth),
			Apply: func(n, depth int) {
				w.gate.Set(n)
				w.room.Set(w.underway(n) + depth)
				w.counts.QueueSpace.Store(int32(w.room.Size()))
			},
		}
		if most > limit {
			k.Waiting = func() { w.grow(most - limit) }
		}
		stream.Run.Tuner.Add(k)
	}
	for range limit {
		w.wait.Go(w.runWorker)
	}
	w.beginEpoch()
	return w, nil
}

// grow adds workers, and lets all of them wait.
func (w *workers[T]) grow(more int) {
	w.growing.Lock()
	defer w.growing.Unlock()
	if w.leaving {
		return
	}
	for range more {
		w.wait.Go(w.runWorker)
	}
	w.waiting.Store(true)
}

// beginEpoch starts cutting portions of the stream's epoch.
func (w *workers[T]) beginEpoch() {
	w.start = w.stream.State()
	pipeline.SetSkipped(&w.start, w.bad)
	w.epoch, w.leave = context.WithCancel(w.ctx)
	w.over = false
	w.underWay.Store(1)
	w.feeding.Go(func() {
		pipeline.LabelGoroutine(w.ctx, w.Name)
		w.ended = w.feed()
		if !w.unordered {
			w.ready <- nil // never blocks: there is room
		}
		w.finished()
	})
}

// finished counts a portion, or the cutting of portions, as done.
func (w *workers[T]) finished() {
	if w.underWay.Add(-1) == 0 && w.unordered {
		w.ready <- nil // never blocks: there is room
	}
}

func (w *workers[T]) Interrupt() {
	w.stream.Interrupt()
	w.leave()
}

func (w *workers[T]) StartEpoch(epoch int64) error {
	w.Interrupt()
	w.feeding.Wait()
	for {
		t, err := w.receive(w.ctx)
		if w.over {
			break
		}
		if err != nil {
			return err
		}
		t.Element.Drop()
	}
	if epoch <= w.stream.Epoch() {
		w.stream.Run.SetTally(&w.bad, pipeline.SkipCount{}) // it is made again, for a Cache
	}
	if err := w.stream.MoveTo(epoch); err != nil {
		return err
	}
	w.beginEpoch()
	return nil
}

// feed cuts portions until the epoch ends, and returns the reason.
func (w *workers[T]) feed() error {
	defer w.WorkerSpec.Cut.close()
	for {
		watch := w.counts.Watch()
		w.stream.Run.Tuner.Tick()
		if !w.room.Enter(w.epoch) {
			return w.epoch.Err()
		}
		t := w.task()
		if t == nil {
			w.room.Leave()
			return w.epoch.Err()
		}
		watch.Blocked()
		if err := w.WorkerSpec.Cut.cut(&t.portion); err != nil {
			w.idle.put(t)
			w.room.Leave()
			return err
		}
		watch.Waited()
		t.marks = append(t.marks, t.portion.mark())
		if w.Begin != nil {
			w.Begin(t.Value, t.records)
		}
		w.payload = payload(t.records)
		w.account(t, false)
		n := w.workUnits(t)
		size := w.Part
		if size == 0 {
			size = n
		}
		t.left.Store(int32((n + size - 1) / size))
		w.underWay.Add(1)
		if !w.unordered {
			w.ready <- t // never blocks: there is room
		}
		// A portion that was started is finished, even if the consumer leaves the epoch.
		for from := 0; from < n; from += size {
			select {
			case w.parts <- part[T]{t, from, min(from+size, n)}:
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
	}
}

// runWorker is the loop of a worker.
func (w *workers[T]) runWorker() {
	pipeline.LabelGoroutine(w.ctx, w.Name)
	var work func(v T, records []pipeline.Record, from, to int, fail func(record int, err error) bool)
	var finish func(T, []pipeline.Record, []pipeline.WorkFault, func(int, error) bool)
	for w.gate.Enter(w.ctx) {
		p, more := <-w.parts
		waits := w.waiting.Load()
		if !more || !w.stream.Run.Admit(w.ctx, waits) {
			w.gate.Leave()
			return
		}
		if work == nil { // most workers of a stage may never have work
			work = w.Work()
			if w.Finish != nil {
				finish = w.Finish()
			}
		}
		began := time.Now()
		region := w.counts.Region(w.stream.Run.Ctx)
		work(p.Value, p.records, p.from, p.to, p.fails)
		last, records, size := p.end(w.Units != nil)
		if last && finish != nil {
			slices.SortFunc(p.faults, func(a, b pipeline.WorkFault) int { return a.Record - b.Record })
			finish(p.Value, p.records, p.faults, p.fails)
		}
		region.End()
		w.counts.Busy(time.Since(began))
		w.counts.Elements.Add(int64(records))
		w.counts.Bytes.Add(size)
		w.counts.Units.Add(1)
		w.stream.Run.Dismiss(waits)
		w.gate.Leave()
		if !last {
			continue
		}
		w.account(p.task, true)
		w.counts.Queue.Add(1)
		if w.unordered {
			w.ready <- p.task // never blocks: there is room
		} else {
			p.done <- struct{}{}
		}
		w.finished()
	}
}

func (w *workers[T]) Next() (*Element[T], error) {
	for {
		t, err := w.receive(w.epoch)
		if err != nil {
			return nil, err
		}
		left, err := w.settle(t)
		if err != nil {
			t.Element.Drop()
			return nil, err
		}
		if left > 0 {
			return &t.Element, nil
		}
		t.Element.Drop()
	}
}

// settle removes the rows of records without a result from a value, if they may be skipped, and
// returns the number of records left.
func (w *workers[T]) settle(t *task[T]) (left int, err error) {
	left = len(t.records)
	if len(t.faults) > 0 {
		slices.SortFunc(t.faults, func(a, b pipeline.WorkFault) int { return a.Record - b.Record })
		before := w.bad
		for i := range t.faults {
			f := &t.faults[i]
			record := t.records[f.Record]
			if !w.stream.Run.Passable(f.Err) {
				return 0, w.stream.Run.Locate(record, f.Err)
			}
			if err := w.stream.Run.SkipRecord(&w.bad, record, f.Err); err != nil {
				return 0, err
			}
			f.Count = w.bad
		}
		left = w.Without(t.Value, t.faults, before)
	}
	t.marks[0].bad = w.bad
	if w.Mark != nil {
		w.Mark(t.Value, t.marks[0])
	}
	return left, nil
}

// receive waits for the next finished task and counts the time. At the end of the epoch it returns
// the reason.
func (w *workers[T]) receive(ctx context.Context) (*task[T], error) {
	if w.over {
		return nil, w.ended
	}
	if w.first == nil {
		t, err := pipeline.Await(ctx, w.ready, w.counts)
		if err != nil {
			return nil, err
		}
		if t == nil {
			w.over = true
			return nil, w.ended
		}
		w.first = t
	}
	if !w.unordered {
		if _, err := pipeline.Await(ctx, w.first.done, w.counts); err != nil {
			return nil, err
		}
	}
	t := w.first
	w.first = nil
	w.counts.Took()
	w.room.Leave()
	w.stream.Run.Budget.Wake()
	return t, nil
}

func (w *workers[T]) State() pipeline.State { return w.start }

func (w *workers[T]) Running() *pipeline.Run { return w.stream.Run }

func (w *workers[T]) recycle() func(T) { return w.Poison }

func (w *workers[T]) Close() {
	w.cancel()
	w.feeding.Wait()
	w.growing.Lock()
	w.leaving = true
	w.growing.Unlock()
	close(w.parts)
	w.wait.Wait()
	w.closed.Store(true)
	if w.first != nil {
		w.first.Element.Drop()
	}
	for len(w.ready) > 0 {
		if t := <-w.ready; t != nil {
			t.Element.Drop()
		}
	}
	w.forgetIdle()
	w.stream.Close()
}
