package flows

import (
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
)

// task is a portion being made into a value.
type task[T any] struct {
	Element[T]
	portion
	left    atomic.Int32 // unfinished parts
	done    chan struct{}
	charged int64 // bytes charged to the budget for the value

	mu     sync.Mutex
	faults []pipeline.WorkFault
	fails  func(record int, err error) bool
}

// workUnits returns the number of units of a task that has begun.
func (s *WorkerSpec[T]) workUnits(t *task[T]) int {
	if s.Units == nil {
		return len(t.records)
	}
	return s.Units(t.Value)
}

// end ends the work on a part, and reports whether it was the last one: otherwise the worker must
// not use the task again. It returns the number of records to count and their payload in bytes: for
// the part or, if units are not records, for the whole task with its last part.
func (p part[T]) end(units bool) (last bool, records int, size int64) {
	if !units {
		records, size = p.to-p.from, payload(p.records[p.from:p.to])
	}
	last = p.left.Add(-1) == 0
	if last && units {
		records, size = len(p.records), payload(p.records)
	}
	return last, records, size
}

// part is one worker's share of a task.
type part[T any] struct {
	*task[T]
	from, to int // units
}

// idle keeps objects for reuse. It is safe for concurrent use.
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

func (l *idle[T]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// task returns an idle task as soon as there is memory for it and another portion, or nothing else
// is in flight; nil if the context ends first.
func (w *workers[T]) task() *task[T] {
	budget := w.stream.Run.Budget
	if t, ok := w.idle.take(); ok {
		more := max(w.largest.Load()-t.charged, 0)
		if !budget.Make(w.epoch, more, w.payload, w.alone) {
			w.idle.put(t)
			return nil
		}
		t.charged += more
		return t
	}
	n := w.largest.Load()
	if !budget.Make(w.epoch, n, w.payload, w.alone) {
		return nil
	}
	t := &task[T]{done: make(chan struct{}, 1), charged: n}
	t.Value = w.Make()
	t.fails = func(record int, err error) bool {
		t.mu.Lock()
		t.faults = append(t.faults, pipeline.WorkFault{Record: record, Err: err})
		t.mu.Unlock()
		return w.stream.Run.Passable(err)
	}
	t.Element.free = func() {
		t.portion.drop()
		clear(t.faults)
		t.faults = t.faults[:0]
		if w.Poison != nil && w.stream.Run.Opts.PoisonRecycled {
			w.Poison(t.Value)
		}
		if w.clear != nil {
			w.clear(t.Value)
			w.account(t, true)
		}
		if t.charged > 0 && w.idle.len() >= w.room.Size() {
			w.forget(t)
			return
		}
		w.idle.put(t)
		if w.closed.Load() {
			w.forgetIdle()
		}
	}
	return t
}

// forget leaves a task to the garbage collector.
func (w *workers[T]) forget(t *task[T]) {
	w.stream.Run.Budget.Add(-t.charged, 0)
	if w.Free != nil {
		w.Free(t.Value)
	}
}

func (w *workers[T]) forgetIdle() {
	for {
		t, ok := w.idle.take()
		if !ok {
			return
		}
		w.forget(t)
	}
}

// account updates the budget to the size of a value; an unfinished one may still grow to what was
// reserved for it.
func (w *workers[T]) account(t *task[T], done bool) {
	if w.Bytes == nil {
		return
	}
	n := w.Bytes(t.Value)
	if !done {
		n = max(n, t.charged)
	}
	w.stream.Run.Budget.Add(n-t.charged, 0)
	t.charged = n
	records.Raise(&w.largest, n)
}

// Resized returns s with n elements of unspecified value.
func Resized[V any](s []V, n int) []V {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]V, n)
}
