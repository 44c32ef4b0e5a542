package convert

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"
)

// heldBytes bounds what is made and not yet written: while more is held, only
// the piece that is to be written next is begun. The pieces under way come on
// top of it, one a worker.
const heldBytes = 64 << 20

// ordered runs tasks on workers goroutines and hands their pieces to consume
// in the order of the tasks. At most window pieces exist at a time, and what
// they hold is bounded by bytes, so memory is bounded whatever the number of
// tasks. The job of a task rides along. A piece belongs to ordered again when
// consume returns.
func ordered(ctx context.Context, tasks iter.Seq2[numbered, error], workers, window int, bytes int64, consume func(job int, p *piece) error) error {
	type slot struct {
		numbered
		turn  int64
		piece *piece
		ready chan struct{}
	}
	g, ctx := errgroup.WithContext(ctx)
	queue := make(chan *slot, window) // in order, for the consumer
	work := make(chan *slot)          // for whichever worker is free
	held := newHolding(bytes)
	stop := context.AfterFunc(ctx, held.wakeAll)
	defer stop()

	g.Go(func() error {
		defer close(queue)
		defer close(work)
		turn := int64(0)
		for t, err := range tasks {
			if err != nil {
				return err
			}
			s := &slot{numbered: t, turn: turn, ready: make(chan struct{})}
			turn++
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
				if err := held.wait(ctx, s.turn); err != nil {
					return err
				}
				s.piece = getPiece()
				if s.run != nil {
					if err := s.run(s.piece); err != nil {
						return err
					}
				}
				held.add(s.piece.size())
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
			size := s.piece.size()
			if err := consume(s.job, s.piece); err != nil {
				return err
			}
			putPiece(s.piece)
			held.consumed(size)
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

// holding counts the bytes of pieces that are made and not yet consumed.
type holding struct {
	mu    sync.Mutex
	moved sync.Cond // something was consumed
	bytes int64
	limit int64
	next  int64 // the turn that is to be consumed next
}

func newHolding(limit int64) *holding {
	h := &holding{limit: limit}
	h.moved.L = &h.mu
	return h
}

// wait returns when the task whose turn it is may begin: when there is room,
// or when everything waits for its piece.
func (h *holding) wait(ctx context.Context, turn int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.bytes > h.limit && turn != h.next && ctx.Err() == nil {
		h.moved.Wait()
	}
	return ctx.Err()
}

func (h *holding) add(n int64) {
	h.mu.Lock()
	h.bytes += n
	h.mu.Unlock()
}

func (h *holding) consumed(n int64) {
	h.mu.Lock()
	h.bytes -= n
	h.next++
	h.mu.Unlock()
	h.moved.Broadcast()
}

// wakeAll lets those who wait see that their context is done.
func (h *holding) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moved.Broadcast()
}
