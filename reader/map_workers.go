package reader

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workers is a running flow of values that workers make. In each epoch one
// goroutine cuts portions and hands them out, and the caller of next gets them
// back. The workers stay from epoch to epoch.
type workers[T any] struct {
	workerSpec[T]
	stream *Stream
	ctx    context.Context
	cancel context.CancelFunc
	start  State // of the epoch
	counts *stageStats

	gate  *gate // workers
	room  *gate // portions under way
	parts chan part[T]
	ready chan *task[T] // in order, done or not; or as they are done; nil ends the epoch
	wait  sync.WaitGroup
	bad   skipCount // what was passed over of the values that were given
	idle  idle[*task[T]]

	epoch    context.Context
	leave    context.CancelFunc // ends it
	feeding  sync.WaitGroup     // of the goroutine that cuts its portions
	underWay atomic.Int64       // portions of it that are not done, and one while more are cut
	ended    error              // of the cutter; set before the nil in ready
	over     bool               // that was received
	first    *task[T]           // the one that was taken out of ready, but is not done

	alone   func() bool  // nothing but what feed has in hand is under way
	payload int64        // of the last portion, in bytes
	largest atomic.Int64 // value so far, in bytes
}

// underway returns how many portions n workers have in hand.
func (s *workerSpec[T]) underway(n int) int {
	if s.part == 0 {
		return n
	}
	return n * s.part / s.cut.size
}

// openWorkers starts a pipe and what workers make of it.
func openWorkers[T any](ctx context.Context, p Pipe, from origin, plan func(*run) (workerSpec[T], error)) (source[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := p.start(ctx, from)
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
		most = cap(stream.run.tokens)
		n = min(most, runtime.GOMAXPROCS(0))
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
	if from.state != nil {
		w.bad = from.state.tally()
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

// beginEpoch has the portions of the stream's epoch cut.
func (w *workers[T]) beginEpoch() {
	w.start = w.stream.State()
	w.start.setTally(w.bad)
	w.epoch, w.leave = context.WithCancel(w.ctx)
	w.over = false
	w.underWay.Store(1)
	w.feeding.Go(func() {
		w.ended = w.feed()
		if !w.unordered {
			w.ready <- nil // there is room
		}
		w.finished()
	})
}

// finished counts a portion, or the cutting of portions, as done.
func (w *workers[T]) finished() {
	if w.underWay.Add(-1) == 0 && w.unordered {
		w.ready <- nil // there is room
	}
}

func (w *workers[T]) interrupt() {
	w.stream.interrupt()
	w.leave()
}

func (w *workers[T]) nextEpoch() error {
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
	if err := w.stream.NextEpoch(); err != nil {
		return err
	}
	w.beginEpoch()
	return nil
}

func checkWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("reader: %d workers: want 1 to %d, or 0 to let it be chosen", n, maxWorkers)
	}
	return nil
}

// feed cuts portions until the epoch ends, and returns why it did.
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
		n := len(t.records)
		size := w.part
		if size == 0 {
			size = n
		}
		t.left.Store(int32((n + size - 1) / size))
		w.underWay.Add(1)
		if !w.unordered {
			w.ready <- t // there is room
		}
		// A portion that was begun is done, also when the epoch is left.
		for from := 0; from < n; from += size {
			select {
			case w.parts <- part[T]{t, from, min(from+size, n)}:
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
	}
}

// account brings what the budget knows of a value up to date; one that is not
// done may still become what there is room for.
func (w *workers[T]) account(t *task[T], done bool) {
	if w.bytes == nil {
		return
	}
	n := w.bytes(t.value)
	if !done {
		n = max(n, t.charged)
	}
	w.stream.run.budget.add(n-t.charged, 0)
	t.charged = n
	raise(&w.largest, n)
}

// runWorker is what a worker does.
func (w *workers[T]) runWorker() {
	work := w.work()
	for w.gate.enter(w.ctx) {
		p, more := <-w.parts
		if !more || !w.stream.run.acquire(w.ctx) {
			w.gate.leave()
			return
		}
		began := time.Now()
		work(p.value, p.records, p.from, p.to, p.fails)
		w.counts.busy(time.Since(began))
		w.counts.elements.Add(int64(p.to - p.from))
		w.counts.bytes.Add(payload(p.records[p.from:p.to]))
		w.counts.units.Add(1)
		w.stream.run.release()
		w.gate.leave()
		if p.left.Add(-1) > 0 {
			continue
		}
		w.account(p.task, true)
		w.counts.queue.Add(1)
		if w.unordered {
			w.ready <- p.task // there is room
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
			return nil, err
		}
		if left > 0 {
			return &t.element, nil
		}
		t.element.drop()
	}
}

// settle takes out of a value what nothing could be made of, where that may be
// passed over, and returns how many records are left in it.
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

// receive waits for the next task that is done, and counts how long. At the end
// of the epoch it returns why that ended.
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

// task returns an idle task, as soon as there is memory for it and another
// portion, or nothing else is under way; nil when the context ends first.
func (w *workers[T]) task() *task[T] {
	budget := w.stream.run.budget
	if t, ok := w.idle.take(); ok {
		more := max(w.largest.Load()-t.charged, 0)
		if !budget.make(w.epoch, more, w.payload, w.alone) {
			w.idle.put(t)
			return nil
		}
		t.charged += more
		return t
	}
	n := w.largest.Load()
	if !budget.make(w.epoch, n, w.payload, w.alone) {
		return nil
	}
	t := &task[T]{done: make(chan struct{}, 1), charged: n}
	t.value = w.make()
	t.fails = func(record int, err error) bool {
		t.mu.Lock()
		t.faults = append(t.faults, workFault{record: record, err: err})
		t.mu.Unlock()
		return w.stream.run.passable(err)
	}
	t.element.free = func() {
		t.portion.drop()
		clear(t.faults)
		t.faults = t.faults[:0]
		if w.clear != nil {
			w.clear(t.value)
			w.account(t, true)
		}
		if t.charged > 0 && w.idle.len() >= w.room.size() {
			w.stream.run.budget.add(-t.charged, 0)
			return // the garbage collector's
		}
		w.idle.put(t)
	}
	return t
}

func (w *workers[T]) state() State { return w.start }

func (w *workers[T]) running() *run { return w.stream.run }

func (w *workers[T]) close() {
	w.cancel()
	w.feeding.Wait()
	close(w.parts)
	w.wait.Wait()
	for {
		t, ok := w.idle.take()
		if !ok {
			break
		}
		w.stream.run.budget.add(-t.charged, 0)
	}
	w.stream.Close()
}
