package reader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// works says how portions of records become values.
type works[T any] struct {
	name      string // of the stage, in Stats
	cut       cutter // without its stream
	workers   int    // 0: as many as the set's Parallelism
	unordered bool   // values come as they are ready
	part      int    // records that one worker takes at a time; 0: the portion
	// make returns an empty value, and a worker's function to fill it with the
	// records from (included) to to of a portion. Before that begin is told of
	// the portion.
	make  func() T
	begin func(v T, records []Record)
	work  func() func(v T, records []Record, from, to int) (bad int, err error)
	// mark tells a value where the pipe stands behind it; nil: not wanted.
	mark func(v T, m mark)
}

// task is a portion on its way to becoming a value.
type task[T any] struct {
	element[T]
	portion
	left atomic.Int32 // parts that are not done
	done chan struct{}

	mu  sync.Mutex
	err error
	bad int // the record that err is about
}

// fail keeps the error of the first bad record.
func (t *task[T]) fail(bad int, err error) {
	t.mu.Lock()
	if t.err == nil || bad < t.bad {
		t.bad, t.err = bad, err
	}
	t.mu.Unlock()
}

// part is what one worker does of a task.
type part[T any] struct {
	*task[T]
	from, to int
}

// workers is a running flow of values that workers make. One goroutine cuts
// portions and hands them out, and the caller of next gets them back.
type workers[T any] struct {
	works[T]
	stream *Stream
	ctx    context.Context
	cancel context.CancelFunc
	start  State
	counts *stageStats

	room  chan struct{} // one for each portion under way
	parts chan part[T]
	ready chan *task[T] // in order, done or not; or as they are done
	wait  sync.WaitGroup
	ended error // of the cutter; set before ready is closed
	idle  idle[*task[T]]
}

// openWorkers starts a pipe and what workers make of it.
func openWorkers[T any](ctx context.Context, p Pipe, at *State, plan func(*run) (works[T], error)) (source[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := p.start(ctx, at)
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
	if spec.workers <= 0 {
		spec.workers = cap(stream.run.tokens)
	}
	// Portions under way: what keeps all workers at work, and one that is ready.
	n := 1 + spec.workers
	if spec.part > 0 {
		n = 2 + spec.workers*spec.part/spec.cut.size
	}
	w := &workers[T]{
		works: spec, stream: stream, ctx: ctx, cancel: cancel, start: stream.State(), counts: stream.run.stats(spec.name),
		room: make(chan struct{}, n), ready: make(chan *task[T], n), parts: make(chan part[T], n),
	}
	w.works.cut.stream = stream
	w.counts.workers.Store(int32(spec.workers))
	w.counts.queueSpace.Store(int32(n))
	var done sync.WaitGroup
	for range spec.workers {
		done.Add(1)
		w.wait.Go(func() { defer done.Done(); w.labour() })
	}
	w.wait.Go(func() {
		w.feed()
		close(w.parts)
		if w.unordered {
			done.Wait()
		}
		close(w.ready)
	})
	return w, nil
}

// feed cuts portions until the stream ends.
func (w *workers[T]) feed() {
	defer w.works.cut.close()
	for {
		watch := w.counts.watch()
		select {
		case w.room <- struct{}{}:
		case <-w.ctx.Done():
			w.ended = w.ctx.Err()
			return
		}
		watch.blocked()
		t := w.task()
		if w.ended = w.works.cut.cut(&t.portion); w.ended != nil {
			return
		}
		watch.waited()
		t.marks = append(t.marks, t.portion.mark())
		if w.mark != nil {
			w.mark(t.value, t.marks[0])
		}
		if w.begin != nil {
			w.begin(t.value, t.records)
		}
		n := len(t.records)
		size := w.part
		if size == 0 {
			size = n
		}
		t.left.Store(int32((n + size - 1) / size))
		if !w.unordered {
			w.ready <- t // there is room
		}
		for from := 0; from < n; from += size {
			select {
			case w.parts <- part[T]{t, from, min(from+size, n)}:
			case <-w.ctx.Done():
				w.ended = w.ctx.Err()
				return
			}
		}
	}
}

// labour is what a worker does.
func (w *workers[T]) labour() {
	work := w.work()
	for p := range w.parts {
		if !w.stream.run.acquire(w.ctx) {
			return
		}
		began := time.Now()
		if bad, err := work(p.value, p.records, p.from, p.to); err != nil {
			p.fail(bad, err)
		}
		w.counts.busy(time.Since(began))
		w.counts.elements.Add(int64(p.to - p.from))
		w.counts.bytes.Add(payload(p.records[p.from:p.to]))
		w.stream.run.release()
		if p.left.Add(-1) > 0 {
			continue
		}
		w.counts.queue.Add(1)
		if w.unordered {
			w.ready <- p.task // there is room
		} else {
			p.done <- struct{}{}
		}
	}
}

func (w *workers[T]) next() (*element[T], error) {
	var t *task[T]
	var ok bool
	select {
	case t, ok = <-w.ready:
	case <-w.ctx.Done():
		return nil, w.ctx.Err()
	}
	if !ok {
		return nil, w.ended
	}
	if !w.unordered {
		select {
		case <-t.done:
		case <-w.ctx.Done():
			return nil, w.ctx.Err()
		}
	}
	<-w.room
	w.counts.queue.Add(-1)
	if t.err != nil {
		return nil, w.stream.run.locate(t.records[t.bad], t.err)
	}
	return &t.element, nil
}

// task returns an idle task.
func (w *workers[T]) task() *task[T] {
	if t, ok := w.idle.take(); ok {
		return t
	}
	t := &task[T]{done: make(chan struct{}, 1)}
	t.value = w.make()
	t.element.free = func() {
		t.portion.drop()
		w.idle.put(t)
	}
	return t
}

func (w *workers[T]) state() State { return w.start }

func (w *workers[T]) stats() []StageStats { return w.stream.Stats() }

func (w *workers[T]) close() {
	w.cancel()
	w.wait.Wait()
	w.stream.Close()
}

// idle keeps what may be used again. Any goroutine may call it.
type idle[T any] struct {
	mu   sync.Mutex
	list []T
}

func (l *idle[T]) put(v T) {
	l.mu.Lock()
	l.list = append(l.list, v)
	l.mu.Unlock()
}

func (l *idle[T]) take() (v T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list)
	if n == 0 {
		return v, false
	}
	v, l.list = l.list[n-1], l.list[:n-1]
	return v, true
}
