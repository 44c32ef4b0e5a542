package par

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Map processes the items that produce gives in parallel, in workers goroutines, and passes them to
// consume in the order in which they were given. give returns when a worker has taken the item; at
// most window items wait for consume, in addition to its current one. produce and consume run in
// one goroutine each, and Map returns when all goroutines have ended.
//
// The first error in the order of the items ends the map and is returned, so that it is the same
// for any number of workers: an error of work or consume belongs to its item, and one of produce
// comes after all items that were given. When ctx ends before the map does, the error is its cause
// or an error of the functions.
//
// The context of work ends with the map. The context of produce, and give with it, also ends when
// an item fails, while earlier items are still worked on and consumed.
func Map[T any](ctx context.Context, workers, window int, produce func(ctx context.Context, give func(T) error) error, work func(ctx context.Context, item T) error, consume func(T) error) error {
	type slot struct {
		item  T
		err   error
		ready chan struct{} // closed when item or err is
	}
	g, ctx := errgroup.WithContext(ctx)
	producing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan *slot, window) // in order, for the consumer
	todo := make(chan *slot)          // for whichever worker is free
	g.Go(func() error {
		defer close(queue)
		defer close(todo)
		err := produce(producing, func(item T) error {
			s := &slot{item: item, ready: make(chan struct{})}
			for _, to := range []chan *slot{queue, todo} {
				select {
				case to <- s:
				case <-producing.Done():
					return context.Cause(producing)
				}
			}
			return nil
		})
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case producing.Err() != nil:
			return nil // the consumer returns the error of the item
		}
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
					s.err = work(ctx, s.item)
				}
				if s.err != nil {
					stop(s.err)
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
			case <-ctx.Done(): // maybe no worker has taken it
				return context.Cause(ctx)
			}
			if s.err != nil {
				return s.err
			}
			if err := consume(s.item); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}
