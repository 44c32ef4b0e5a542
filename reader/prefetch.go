package reader

import (
	"context"
	"sync"
)

// flowPrefetch makes up to n elements in advance; with 0 the number is chosen.
func flowPrefetch[T any](f flow[T], n int) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		if err := checkPrefetch(n); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		upCtx, filler := withCaller(ctx)
		in, err := f.begin(upCtx, from)
		if err != nil {
			cancel()
			return nil, err
		}
		p := &prefetched[T]{in: in, caller: filler, ctx: ctx, cancel: cancel}
		p.queue = newQueue[*element[T]](in.running(), "prefetch", n)
		p.beginEpoch()
		return p, nil
	}
}

// prefetched is a running flow with a queue after it.
type prefetched[T any] struct {
	in     source[T]
	caller *caller // of in
	ctx    context.Context
	cancel context.CancelFunc
	queue  *queue[*element[T]]
	wait   sync.WaitGroup

	start State // of the epoch
	epoch context.Context
	leave context.CancelFunc // ends it
}

// beginEpoch starts making the elements of an epoch.
func (p *prefetched[T]) beginEpoch() {
	p.start = p.in.state()
	p.epoch, p.leave = context.WithCancel(p.ctx)
	p.queue.end(nil)
	p.caller.labels = withStage(p.ctx, p.queue.stats.name)
	p.wait.Go(func() {
		labelGoroutine(p.ctx, p.queue.stats.name)
		p.queue.end(p.fill())
	})
}

// fill makes elements until there is an error.
func (p *prefetched[T]) fill() error {
	for p.queue.room(p.epoch) {
		e, err := p.in.next()
		if err != nil {
			return err
		}
		p.queue.stats.elements.Add(1)
		p.queue.put(e)
	}
	return p.epoch.Err()
}

func (p *prefetched[T]) interrupt() {
	p.in.interrupt()
	p.leave()
}

func (p *prefetched[T]) startEpoch(epoch int64) error {
	p.interrupt()
	p.drain()
	if err := p.in.startEpoch(epoch); err != nil {
		return err
	}
	p.beginEpoch()
	return nil
}

// drain waits for the goroutine, which is about to end, and drops the elements it made.
func (p *prefetched[T]) drain() {
	p.wait.Wait()
	for {
		e, err := p.queue.take()
		if err != nil {
			return
		}
		e.drop()
	}
}

func (p *prefetched[T]) next() (*element[T], error) { return p.queue.take() }

func (p *prefetched[T]) state() State  { return p.start }
func (p *prefetched[T]) running() *run { return p.in.running() }

func (p *prefetched[T]) recycle() func(T) { return p.in.recycle() }

func (p *prefetched[T]) close() {
	p.cancel()
	p.drain()
	p.in.close()
}
