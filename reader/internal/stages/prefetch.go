package stages

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Prefetch adds a queue of up to n blocks; with 0 the number is chosen.
func Prefetch(before *pipeline.Link, n int) *pipeline.Link {
	return before.Then("prefetch", func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if err := pipeline.CheckPrefetch(n); err != nil {
			return nil, err
		}
		return &prefetchStage{up: up, queue: pipeline.NewQueue[*pipeline.Block](r, "prefetch", n)}, nil
	})
}

// prefetchStage queues blocks. It has no position of its own.
type prefetchStage struct {
	up     pipeline.Stage
	queue  *pipeline.Queue[*pipeline.Block]
	cancel context.CancelFunc // not nil once the goroutine was started
	wait   sync.WaitGroup
}

func (x *prefetchStage) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.Stop()
	_, before := at.Pop()
	ctx, cancel := context.WithCancel(ctx)
	upCtx, filler := pipeline.WithCaller(ctx)
	if err := x.up.Start(upCtx, epoch, before); err != nil {
		cancel()
		return err
	}
	x.cancel = cancel
	filler.Labels = pipeline.WithStage(ctx, x.queue.Stats.Name)
	x.queue.End(nil)
	x.wait.Go(func() {
		pipeline.LabelGoroutine(ctx, x.queue.Stats.Name)
		x.queue.End(x.fill(ctx))
	})
	return nil
}

// fill requests blocks until there is an error.
func (x *prefetchStage) fill(ctx context.Context) error {
	for x.queue.Room(ctx) {
		b, err := x.up.Next()
		if err != nil {
			return err
		}
		b.At = b.At.Push()
		x.queue.Stats.Gave(b)
		x.queue.Put(b)
	}
	return ctx.Err()
}

func (x *prefetchStage) Next() (*pipeline.Block, error) { return x.queue.Take() }

func (x *prefetchStage) Stop() {
	if x.cancel != nil {
		x.cancel()
		x.wait.Wait()
		for {
			b, err := x.queue.Take()
			if err != nil {
				break
			}
			b.Release()
		}
		x.cancel = nil
	}
	x.up.Stop()
}
