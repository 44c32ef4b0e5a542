package reader

import (
	"context"
	"sync"
)

// recordPrefetch adds a queue of up to n blocks; with 0 the number is chosen.
func recordPrefetch(before *link, n int) *link {
	return before.then("prefetch", func(r *run, up stage) (stage, error) {
		if err := checkPrefetch(n); err != nil {
			return nil, err
		}
		return &prefetchStage{up: up, queue: newQueue[*recordBlock](r, "prefetch", n)}, nil
	})
}

// prefetchStage queues blocks. It has no position of its own.
type prefetchStage struct {
	up     stage
	queue  *queue[*recordBlock]
	cancel context.CancelFunc // not nil once the goroutine was started
	wait   sync.WaitGroup
}

func (x *prefetchStage) start(ctx context.Context, epoch int64, at position) error {
	x.stop()
	_, before := at.pop()
	ctx, cancel := context.WithCancel(ctx)
	upCtx, filler := withCaller(ctx)
	if err := x.up.start(upCtx, epoch, before); err != nil {
		cancel()
		return err
	}
	x.cancel = cancel
	filler.labels = withStage(ctx, x.queue.stats.name)
	x.queue.end(nil)
	x.wait.Go(func() {
		labelGoroutine(ctx, x.queue.stats.name)
		x.queue.end(x.fill(ctx))
	})
	return nil
}

// fill requests blocks until there is an error.
func (x *prefetchStage) fill(ctx context.Context) error {
	for x.queue.room(ctx) {
		b, err := x.up.next()
		if err != nil {
			return err
		}
		b.at = b.at.push()
		x.queue.stats.gave(b)
		x.queue.put(b)
	}
	return ctx.Err()
}

func (x *prefetchStage) next() (*recordBlock, error) { return x.queue.take() }

func (x *prefetchStage) stop() {
	if x.cancel != nil {
		x.cancel()
		x.wait.Wait()
		for {
			b, err := x.queue.take()
			if err != nil {
				break
			}
			b.Release()
		}
		x.cancel = nil
	}
	x.up.stop()
}
