package reader

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workers is a running flow of values made by workers. In each epoch one goroutine cuts portions
// and hands them out, and the caller of next receives them back. The workers persist across epochs.
type workers[T any] struct {
	workerSpec[T]
	stream *recordStream
	ctx    context.Context
	cancel context.CancelFunc
	start  State // of the epoch
	counts *stageStats

	gate  *gate // workers
	room  *gate // portions in flight
	parts chan part[T]
	ready chan *task[T] // in order, or as they finish; nil ends the epoch
	wait  sync.WaitGroup
	bad   skipCount // skip count up to the last value returned
	idle  idle[*task[T]]

	closed atomic.Bool // nothing is made any more

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
func (s *workerSpec[T]) underway(n int) int {
	if s.part == 0 {
		return n
	}
	return n * s.part / (s.cut.size * max(s.each, 1))
}

// openWorkers starts a pipe and the workers on its output.
func openWorkers[T any](ctx context.Context, p chain, from origin, plan func(*run) (workerSpec[T], error)) (source[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	upCtx, feeder := withCaller(ctx)
	stream, err := p.start(upCtx, from)
	if err != nil {
		cancel()
		return nil, err
	}
	spec, err := plan(stream.run)
	if err != nil {
		cancel()
		stream.Close()
		return nil, err
	}
	if err := checkWorkers(spec.workers); err != nil {
		cancel()
		stream.Close()
		return nil, err
	}
	n, most := spec.workers, spec.workers
	auto := n <= 0
	if auto {
		most = stream.run.mostWorkers(spec.waits) + spec.waiting
		n = min(most, runtime.GOMAXPROCS(0)+spec.waiting)
	}
	depth := 1
	if spec.part > 0 {
		depth = 2
	}
	w := &workers[T]{
		workerSpec: spec, stream: stream, ctx: ctx, cancel: cancel, counts: stream.run.stats(spec.name),
		gate: newGate(n), room: newGate(spec.underway(n) + depth),
		ready: make(chan *task[T], spec.underway(most)+mostDepth+1), parts: make(chan part[T], most),
	}
	w.workerSpec.cut.stream = stream
	stream.run.makes(spec.makes)
	feeder.labels = withStage(ctx, spec.name)
	if from.state != nil {
		w.bad = skippedIn(from.state)
	}
	stream.run.tally(&w.bad)
	w.alone = func() bool { return w.room.occupied() == 1 }
	w.counts.workers.Store(int32(n))
	w.counts.queueSpace.Store(int32(w.room.size()))
	if auto {
		stream.run.tuner.add(&knob{
			stats: w.counts, pace: newPace(n, 1, most), depth: newDepth(depth, 1, mostDepth),
			apply: func(n, depth int) {
				w.gate.set(n)
				w.room.set(w.underway(n) + depth)
				w.counts.queueSpace.Store(int32(w.room.size()))
			},
		})
	}
	for range most {
		w.wait.Go(w.runWorker)
	}
	w.beginEpoch()
	return w, nil
}

// beginEpoch starts cutting portions of the stream's epoch.
func (w *workers[T]) beginEpoch() {
	w.start = w.stream.State()
	setSkipped(&w.start, w.bad)
	w.epoch, w.leave = context.WithCancel(w.ctx)
	w.over = false
	w.underWay.Store(1)
	w.feeding.Go(func() {
		labelGoroutine(w.ctx, w.name)
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

func (w *workers[T]) interrupt() {
	w.stream.interrupt()
	w.leave()
}

func (w *workers[T]) startEpoch(epoch int64) error {
	w.interrupt()
	w.feeding.Wait()
	for {
		t, err := w.receive(w.ctx)
		if w.over {
			break
		}
		if err != nil {
			return err
		}
		t.element.drop()
	}
	if epoch <= w.stream.Epoch() {
		w.stream.run.setTally(&w.bad, skipCount{}) // it is made again, for a Cache
	}
	if err := w.stream.moveTo(epoch); err != nil {
		return err
	}
	w.beginEpoch()
	return nil
}

// feed cuts portions until the epoch ends, and returns the reason.
func (w *workers[T]) feed() error {
	defer w.workerSpec.cut.close()
	for {
		watch := w.counts.watch()
		w.stream.run.tuner.tick()
		if !w.room.enter(w.epoch) {
			return w.epoch.Err()
		}
		t := w.task()
		if t == nil {
			w.room.leave()
			return w.epoch.Err()
		}
		watch.blocked()
		if err := w.workerSpec.cut.cut(&t.portion); err != nil {
			w.idle.put(t)
			w.room.leave()
			return err
		}
		watch.waited()
		t.marks = append(t.marks, t.portion.mark())
		if w.begin != nil {
			w.begin(t.value, t.records)
		}
		w.payload = payload(t.records)
		w.account(t, false)
		n := w.workUnits(t)
		size := w.part
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
	labelGoroutine(w.ctx, w.name)
	work := w.work()
	var finish func(T, []Record, []workFault, func(int, error) bool)
	if w.finish != nil {
		finish = w.finish()
	}
	for w.gate.enter(w.ctx) {
		p, more := <-w.parts
		if !more || !w.stream.run.admit(w.ctx, w.waits) {
			w.gate.leave()
			return
		}
		began := time.Now()
		region := w.counts.region(w.stream.run.ctx)
		work(p.value, p.records, p.from, p.to, p.fails)
		last, records, size := p.end(w.units != nil)
		if last && finish != nil {
			slices.SortFunc(p.faults, func(a, b workFault) int { return a.record - b.record })
			finish(p.value, p.records, p.faults, p.fails)
		}
		region.End()
		w.counts.busy(time.Since(began))
		w.counts.elements.Add(int64(records))
		w.counts.bytes.Add(size)
		w.counts.units.Add(1)
		w.stream.run.dismiss(w.waits)
		w.gate.leave()
		if !last {
			continue
		}
		w.account(p.task, true)
		w.counts.queue.Add(1)
		if w.unordered {
			w.ready <- p.task // never blocks: there is room
		} else {
			p.done <- struct{}{}
		}
		w.finished()
	}
}

func (w *workers[T]) next() (*element[T], error) {
	for {
		t, err := w.receive(w.epoch)
		if err != nil {
			return nil, err
		}
		left, err := w.settle(t)
		if err != nil {
			t.element.drop()
			return nil, err
		}
		if left > 0 {
			return &t.element, nil
		}
		t.element.drop()
	}
}

// settle removes the rows of records without a result from a value, if they may be skipped, and
// returns the number of records left.
func (w *workers[T]) settle(t *task[T]) (left int, err error) {
	left = len(t.records)
	if len(t.faults) > 0 {
		slices.SortFunc(t.faults, func(a, b workFault) int { return a.record - b.record })
		before := w.bad
		for i := range t.faults {
			f := &t.faults[i]
			record := t.records[f.record]
			if !w.stream.run.passable(f.err) {
				return 0, w.stream.run.locate(record, f.err)
			}
			if err := w.stream.run.skipRecord(&w.bad, record, f.err); err != nil {
				return 0, err
			}
			f.count = w.bad
		}
		left = w.without(t.value, t.faults, before)
	}
	t.marks[0].bad = w.bad
	if w.mark != nil {
		w.mark(t.value, t.marks[0])
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
		t, err := await(ctx, w.ready, w.counts)
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
		if _, err := await(ctx, w.first.done, w.counts); err != nil {
			return nil, err
		}
	}
	t := w.first
	w.first = nil
	w.counts.took()
	w.room.leave()
	w.stream.run.budget.wake()
	return t, nil
}

func (w *workers[T]) state() State { return w.start }

func (w *workers[T]) running() *run { return w.stream.run }

func (w *workers[T]) recycle() func(T) { return w.poison }

func (w *workers[T]) close() {
	w.cancel()
	w.feeding.Wait()
	close(w.parts)
	w.wait.Wait()
	w.closed.Store(true)
	if w.first != nil {
		w.first.element.drop()
	}
	for len(w.ready) > 0 {
		if t := <-w.ready; t != nil {
			t.element.drop()
		}
	}
	w.forgetIdle()
	w.stream.Close()
}
