package flows

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Prefetch makes up to n elements in advance; with 0 the number is chosen.
func Prefetch[T any](f Flow[T], n int) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		if err := pipeline.CheckPrefetch(n); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		upCtx, filler := pipeline.WithCaller(ctx)
		in, err := f.Begin(upCtx, from)
		if err != nil {
			cancel()
			return nil, err
		}
		p := &prefetched[T]{in: in, caller: filler, ctx: ctx, cancel: cancel}
		p.queue = pipeline.NewQueue[*Element[T]](in.Running(), "prefetch", n)
		p.beginEpoch()
		return p, nil
	}
}

// prefetched is a running flow with a queue after it.
type prefetched[T any] struct {
	in     Source[T]
	caller *pipeline.Caller // of in
	ctx    context.Context
	cancel context.CancelFunc
	queue  *pipeline.Queue[*Element[T]]
	wait   sync.WaitGroup

	start pipeline.State // of the epoch
	epoch context.Context
	leave context.CancelFunc // ends it
}

// beginEpoch starts making the elements of an epoch.
func (p *prefetched[T]) beginEpoch() {
	p.start = p.in.State()
	p.epoch, p.leave = context.WithCancel(p.ctx)
	p.queue.End(nil)
	p.caller.Labels = pipeline.WithStage(p.ctx, p.queue.Stats.Name)
	p.wait.Go(func() {
		pipeline.LabelGoroutine(p.ctx, p.queue.Stats.Name)
		p.queue.End(p.fill())
	})
}

// fill makes elements until there is an error.
func (p *prefetched[T]) fill() error {
	for p.queue.Room(p.epoch) {
		e, err := p.in.Next()
		if err != nil {
			return err
		}
		p.queue.Stats.Elements.Add(1)
		p.queue.Put(e)
	}
	return p.epoch.Err()
}

func (p *prefetched[T]) Interrupt() {
	p.in.Interrupt()
	p.leave()
}

func (p *prefetched[T]) StartEpoch(epoch int64) error {
	p.Interrupt()
	p.drain()
	if err := p.in.StartEpoch(epoch); err != nil {
		return err
	}
	p.beginEpoch()
	return nil
}

// drain waits for the goroutine, which is about to end, and drops the elements it made.
func (p *prefetched[T]) drain() {
	p.wait.Wait()
	for {
		e, err := p.queue.Take()
		if err != nil {
			return
		}
		e.Drop()
	}
}

func (p *prefetched[T]) Next() (*Element[T], error) { return p.queue.Take() }

func (p *prefetched[T]) State() pipeline.State  { return p.start }
func (p *prefetched[T]) Running() *pipeline.Run { return p.in.Running() }

func (p *prefetched[T]) recycle() func(T) { return p.in.recycle() }

func (p *prefetched[T]) Close() {
	p.cancel()
	p.drain()
	p.in.Close()
}
