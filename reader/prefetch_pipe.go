package reader

import (
	"context"
	"sync"
)

// Prefetch gives the same elements, and has up to n blocks of them ready before
// they are asked for, of some hundred small records or a few large ones each.
// What comes before it then works at the same time as what follows. With 0 how
// many is chosen and changed as the pipeline runs. The memory of the [Options]
// bounds it in any case.
//
// Sources read ahead by themselves, and flows work ahead of who asks: this is
// for stages between, such as a [Pipe.Filter] or a [Pipe.Cache] on disk.
func (p Pipe) Prefetch(n int) Pipe {
	return p.then("prefetch", func(r *run, up stage) (stage, error) {
		if err := checkPrefetch(n); err != nil {
			return nil, err
		}
		return &prefetchStage{up: up, queue: newQueue[*Block](r, "prefetch", n)}, nil
	})
}

// prefetchStage keeps blocks in a queue. It has no place of its own.
type prefetchStage struct {
	up     stage
	queue  *queue[*Block]
	cancel context.CancelFunc // not nil while the goroutine runs, or ran
	wait   sync.WaitGroup
}

func (x *prefetchStage) start(ctx context.Context, epoch int64, at position) error {
	x.stop()
	_, before := at.pop()
	ctx, cancel := context.WithCancel(ctx)
	if err := x.up.start(ctx, epoch, before); err != nil {
		cancel()
		return err
	}
	x.cancel = cancel
	x.queue.end(nil)
	x.wait.Go(func() { x.queue.end(x.fill(ctx)) })
	return nil
}

// fill asks for blocks until there is an error.
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

func (x *prefetchStage) next() (*Block, error) { return x.queue.take() }

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
