package reader

import (
	"context"
	"fmt"
	"sync"
)

// Prefetch describes the same elements, up to n of which are made before they
// are asked for, beside what workers have in hand anyway. With 0 how many is
// chosen and changed as the pipeline runs. The memory of the [Options] bounds it
// in any case.
func (f Flow[T]) Prefetch(n int) Flow[T] {
	return Flow[T]{func(ctx context.Context, at *State) (source[T], error) {
		if err := checkPrefetch(n); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		in, err := f.begin(ctx, at)
		if err != nil {
			cancel()
			return nil, err
		}
		p := &prefetched[T]{in: in, ctx: ctx, cancel: cancel, start: in.state()}
		p.queue = newQueue[*element[T]](in.running(), "prefetch", n)
		context.AfterFunc(ctx, p.queue.poke)
		p.wait.Go(p.run)
		return p, nil
	}}
}

// maxPrefetch bounds what Prefetch holds.
const maxPrefetch = 1 << 20

func checkPrefetch(n int) error {
	if n < 0 || n > maxPrefetch {
		return fmt.Errorf("reader: prefetch of %d: want 1 to %d elements, or 0 to let it be chosen", n, maxPrefetch)
	}
	return nil
}

// prefetched is a running flow behind a queue.
type prefetched[T any] struct {
	in     source[T]
	ctx    context.Context
	cancel context.CancelFunc
	queue  *queue[*element[T]]
	start  State
	wait   sync.WaitGroup
}

func (p *prefetched[T]) run() {
	for p.queue.room(p.ctx) {
		e, err := p.in.next()
		if err != nil {
			p.queue.end(err)
			return
		}
		p.queue.stats.elements.Add(1)
		p.queue.put(e)
	}
	p.queue.end(p.ctx.Err())
}

func (p *prefetched[T]) next() (*element[T], error) { return p.queue.take() }

func (p *prefetched[T]) state() State  { return p.start }
func (p *prefetched[T]) running() *run { return p.in.running() }

func (p *prefetched[T]) close() {
	p.cancel()
	p.wait.Wait()
	for {
		e, err := p.queue.take()
		if err != nil {
			break
		}
		e.drop()
	}
	p.in.close()
}
