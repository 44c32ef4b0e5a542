package convert

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
)

// ordered runs tasks on workers goroutines and hands their pieces to consume
// in the order of the tasks. At most window pieces exist at a time, so memory
// is bounded by the window whatever the number of tasks. The job of a task
// rides along. A piece belongs to ordered again when consume returns.
func ordered(ctx context.Context, tasks iter.Seq2[numbered, error], workers, window int, consume func(job int, p *piece) error) error {
	type slot struct {
		numbered
		piece *piece
		ready chan struct{}
	}
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan *slot, window) // in order, for the consumer
	work := make(chan *slot)          // for whichever worker is free

	g.Go(func() error {
		defer close(queue)
		defer close(work)
		for t, err := range tasks {
			if err != nil {
				return err
			}
			s := &slot{numbered: t, ready: make(chan struct{})}
			for _, to := range []chan *slot{queue, work} {
				select {
				case to <- s:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			for s := range work {
				s.piece = getPiece()
				if s.run != nil {
					if err := s.run(s.piece); err != nil {
						return err
					}
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
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := consume(s.job, s.piece); err != nil {
				return err
			}
			putPiece(s.piece)
		}
		return nil
	})
	return g.Wait()
}

// numbered is a task with the job that it belongs to. A nil run is an empty
// piece: it says that a job with no task has begun.
type numbered struct {
	job int
	run task
}
