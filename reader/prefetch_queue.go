package reader

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
	mostDepth  = 64
)

// queue holds elements made in advance. One goroutine makes and puts them, another takes them:
//
//	for q.room(ctx) {
//		v, err := …
//		if err != nil { q.end(err); return }
//		q.put(v)
//	}
//	q.end(ctx.Err())
type queue[T any] struct {
	run   *run
	stats *stageStats
	empty func() bool

	mu    sync.Mutex
	space *par.Cond // for the producer: limit or head changed
	more  sync.Cond // for the consumer: list or err changed
	limit int
	list  []T
	head  int   // of list: next element to take
	err   error // why there are no more
}

// newQueue returns a queue of at most n elements; if n is 0 the length is chosen automatically.
func newQueue[T any](r *run, name string, n int) *queue[T] {
	q := &queue[T]{run: r, stats: r.stats(name), limit: n}
	q.empty = func() bool { return q.stats.queue.Load() == 0 }
	q.space, q.more.L = par.NewCond(&q.mu), &q.mu
	if n == 0 {
		q.limit = startDepth
		r.tuner.add(&knob{stats: q.stats, depth: newDepth(startDepth, 1, mostDepth), apply: func(_, n int) { q.setLimit(n) }})
	}
	q.stats.queueSpace.Store(int32(q.limit))
	return q
}

func (q *queue[T]) setLimit(n int) {
	q.mu.Lock()
	q.limit = n
	q.space.Broadcast()
	q.mu.Unlock()
	q.stats.queueSpace.Store(int32(n))
}

// room waits until another element may be made: the queue and the memory have room for it, or the
// queue is empty; false if ctx ends first.
func (q *queue[T]) room(ctx context.Context) bool {
	q.run.tuner.tick()
	watch := q.stats.watch()
	defer func() { watch.blocked() }()
	q.mu.Lock()
	err := q.space.Wait(ctx, func() bool { return len(q.list)-q.head < q.limit })
	q.mu.Unlock()
	return err == nil && q.run.budget.make(ctx, 0, 0, q.empty) && ctx.Err() == nil
}

// put adds an element.
func (q *queue[T]) put(v T) {
	q.mu.Lock()
	if q.head > 0 && len(q.list) == cap(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, v)
	q.stats.queue.Add(1)
	q.stats.units.Add(1)
	q.more.Signal()
	q.mu.Unlock()
}

// end records that there are no more elements, and why; nil resumes.
func (q *queue[T]) end(err error) {
	q.mu.Lock()
	q.err = err
	q.more.Signal()
	q.mu.Unlock()
}

// take returns the next element, or after the last one the error of end.
func (q *queue[T]) take() (v T, err error) {
	q.mu.Lock()
	if q.head == len(q.list) && q.err == nil {
		began := time.Now()
		for q.head == len(q.list) && q.err == nil {
			q.more.Wait()
		}
		q.stats.awaited(time.Since(began))
	}
	if q.head == len(q.list) {
		err = q.err
		q.mu.Unlock()
		return v, err
	}
	var none T
	v, q.list[q.head] = q.list[q.head], none
	q.head++
	q.stats.took()
	q.space.Broadcast()
	q.mu.Unlock()
	q.run.budget.wake()
	return v, nil
}

// maxPrefetch bounds the length of a Prefetch.
const maxPrefetch = 1 << 20

func checkPrefetch(n int) error {
	if n < 0 || n > maxPrefetch {
		return fmt.Errorf("reader: prefetch of %d: want 1 to %d elements, or 0 to let it be chosen", n, maxPrefetch)
	}
	return nil
}
