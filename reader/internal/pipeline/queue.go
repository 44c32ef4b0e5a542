package pipeline

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
)

// Bounds of a queue with automatic length.
const (
	startDepth = 2
	MostDepth  = 64
)

// Queue holds elements made in advance. One goroutine makes and puts them, another takes them:
//
//	for q.room(ctx) {
//		v, err := …
//		if err != nil { q.end(err); return }
//		q.put(v)
//	}
//	q.end(ctx.Err())
type Queue[T any] struct {
	run   *Run
	Stats *Counters
	Empty func() bool

	mu    sync.Mutex
	space *par.Cond // for the producer: limit or head changed
	more  sync.Cond // for the consumer: list or err changed
	limit int
	list  []T
	head  int   // of list: next element to take
	err   error // of the end
}

// NewQueue returns a queue of at most n elements; if n is 0 the length is chosen automatically.
func NewQueue[T any](r *Run, name string, n int) *Queue[T] {
	q := &Queue[T]{run: r, Stats: r.Stats(name), limit: n}
	q.Empty = func() bool { return q.Stats.Queue.Load() == 0 }
	q.space, q.more.L = par.NewCond(&q.mu), &q.mu
	if n == 0 {
		q.limit = startDepth
		r.Tuner.Add(&Knob{Stats: q.Stats, Depth: NewDepth(startDepth, 1, MostDepth), Apply: func(_, n int) { q.SetLimit(n) }})
	}
	q.Stats.QueueSpace.Store(int32(q.limit))
	return q
}

// SetLimit changes how many elements the queue may have.
func (q *Queue[T]) SetLimit(n int) {
	q.mu.Lock()
	q.limit = n
	q.space.Broadcast()
	q.mu.Unlock()
	q.Stats.QueueSpace.Store(int32(n))
}

// Room waits until another element may be made: the queue and the memory have room for it, or the
// queue is empty; false if ctx ends first.
func (q *Queue[T]) Room(ctx context.Context) bool {
	q.run.Tuner.Tick()
	watch := q.Stats.Watch()
	defer func() { watch.Blocked() }()
	q.mu.Lock()
	err := q.space.Wait(ctx, func() bool { return len(q.list)-q.head < q.limit })
	q.mu.Unlock()
	return err == nil && q.run.Budget.Make(ctx, 0, 0, q.Empty) && ctx.Err() == nil
}

// Put adds an element.
func (q *Queue[T]) Put(v T) {
	q.mu.Lock()
	if q.head > 0 && len(q.list) == cap(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, v)
	q.Stats.Queue.Add(1)
	q.Stats.Units.Add(1)
	q.more.Signal()
	q.mu.Unlock()
}

// End ends the queue with an error, which takers get after the last element; nil resumes.
func (q *Queue[T]) End(err error) {
	q.mu.Lock()
	q.err = err
	q.more.Signal()
	q.mu.Unlock()
}

// Take returns the next element, or after the last one the error of end.
func (q *Queue[T]) Take() (v T, err error) {
	q.mu.Lock()
	if q.head == len(q.list) && q.err == nil {
		began := time.Now()
		for q.head == len(q.list) && q.err == nil {
			q.more.Wait()
		}
		q.Stats.Awaited(time.Since(began))
	}
	if q.head == len(q.list) {
		err = q.err
		q.mu.Unlock()
		return v, err
	}
	var none T
	v, q.list[q.head] = q.list[q.head], none
	q.head++
	q.Stats.Took()
	q.space.Broadcast()
	q.mu.Unlock()
	q.run.Budget.Wake()
	return v, nil
}

// maxPrefetch bounds the length of a Prefetch.
const maxPrefetch = 1 << 20

func CheckPrefetch(n int) error {
	if n < 0 || n > maxPrefetch {
		return fmt.Errorf("reader: prefetch of %d: want 1 to %d elements, or 0 to let it be chosen", n, maxPrefetch)
	}
	return nil
}
