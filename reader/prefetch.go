package reader

import (
	"context"
	"fmt"
	"sync"
)

// Prefetch describes the same elements, up to n of which are made before they
// are asked for, beside what workers have in hand anyway.
func (f Flow[T]) Prefetch(n int) Flow[T] {
	return Flow[T]{func(ctx context.Context, at *State) (source[T], error) {
		if err := checkPrefetch(n); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		in, err := f.open(ctx, at)
		if err != nil {
			cancel()
			return nil, err
		}
		p := &prefetched[T]{in: in, ctx: ctx, cancel: cancel, queue: make(chan *element[T], n-1), start: in.state()}
		p.wait.Go(p.run)
		return p, nil
	}}
}

// maxPrefetch bounds what Prefetch holds.
const maxPrefetch = 1 << 20

func checkPrefetch(n int) error {
	if n < 1 || n > maxPrefetch {
		return fmt.Errorf("reader: prefetch of %d: want 1 to %d elements", n, maxPrefetch)
	}
	return nil
}

// prefetched is a running flow behind a queue. One more element than the queue
// holds is in the hands of its goroutine.
type prefetched[T any] struct {
	in     source[T]
	ctx    context.Context
	cancel context.CancelFunc
	queue  chan *element[T]
	start  State
	wait   sync.WaitGroup
	ended  error // set before queue is closed
}

func (p *prefetched[T]) run() {
	defer close(p.queue)
	for {
		e, err := p.in.next()
		if err != nil {
			p.ended = err
			return
		}
		select {
		case p.queue <- e:
		case <-p.ctx.Done():
			e.drop()
			p.ended = p.ctx.Err()
			return
		}
	}
}

func (p *prefetched[T]) next() (*element[T], error) {
	if e, ok := <-p.queue; ok {
		return e, nil
	}
	return nil, p.ended
}

func (p *prefetched[T]) state() State        { return p.start }
func (p *prefetched[T]) stats() []StageStats { return p.in.stats() }

func (p *prefetched[T]) close() {
	p.cancel()
	for e := range p.queue {
		e.drop()
	}
	p.wait.Wait()
	p.in.close()
}
