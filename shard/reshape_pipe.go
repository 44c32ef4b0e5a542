package shard

import (
	"context"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// inOrder has workers goroutines work on what produce gives, and hands it to
// consume in the order in which it was given. At most window things are under
// way at a time. The first error in that order ends everything and is returned;
// no goroutine is left.
func inOrder[T any](ctx context.Context, workers, window int, produce func(ctx context.Context, give func(T) error) error, work func(ctx context.Context, x T) error, consume func(T) error) error {
	type slot struct {
		x     T
		err   error
		ready chan struct{}
	}
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan *slot, window) // in order, for the consumer
	todo := make(chan *slot, window)  // for whichever worker is free
	g.Go(func() error {
		defer close(queue)
		defer close(todo)
		err := produce(ctx, func(x T) error {
			s := &slot{x: x, ready: make(chan struct{})}
			for _, to := range []chan *slot{queue, todo} {
				select {
				case to <- s:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return nil
		})
		if err == nil || ctx.Err() != nil {
			return err
		}
		// What was given before has its turn first.
		s := &slot{err: err, ready: make(chan struct{})}
		close(s.ready)
		select {
		case queue <- s:
			return nil
		case <-ctx.Done():
			return err
		}
	})
	for range workers {
		g.Go(func() error {
			for s := range todo {
				if s.err = context.Cause(ctx); s.err == nil { // else the consumer would take it for done
					s.err = work(ctx, s.x)
				}
				close(s.ready)
			}
			return nil
		})
	}
	g.Go(func() error {
		for s := range queue {
			select {
			case <-s.ready:
			case <-ctx.Done(): // a slot may have come without going to a worker
				return context.Cause(ctx)
			}
			if s.err != nil {
				return s.err
			}
			if err := consume(s.x); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// budget bounds the bytes of blocks under way. What is larger than all of it
// goes alone.
type budget struct {
	*semaphore.Weighted
	size int64
}

func newBudget(size int64) *budget { return &budget{semaphore.NewWeighted(size), size} }

func (b *budget) take(ctx context.Context, n int64) error {
	return b.Acquire(ctx, min(n, b.size))
}

// idle waits until all that was taken has been given back.
func (b *budget) idle(ctx context.Context) error {
	if err := b.take(ctx, b.size); err != nil {
		return err
	}
	b.give(b.size)
	return nil
}

func (b *budget) give(n int64) { b.Release(min(n, b.size)) }
