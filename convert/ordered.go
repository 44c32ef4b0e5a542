package convert

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/tfrec/tfrec/internal/par"
)

// heldBytes bounds what is made and not yet written: while more is held, only
// the piece that is to be written next is begun. The pieces under way come on
// top of it, one a worker.
const heldBytes = 64 << 20

// ordered runs tasks on workers goroutines and hands their pieces to consume
// in the order of the tasks. At most window pieces wait for consume, and what
// they hold is bounded by bytes, so memory is bounded whatever the number of
// tasks. What tasks reserve for their work ([piece.reserve]), together with what
// the pieces hold, is bounded by memory; 0 is no bound. The job of a task rides
// along. A piece belongs to ordered again when consume returns. The error is the
// first one in the order of the tasks, or ctx's.
func ordered(ctx context.Context, tasks iter.Seq2[numbered, error], workers, window int, bytes, memory int64, consume func(job int, p *piece) error) error {
	type slot struct {
		numbered
		turn  int64
		piece *piece
	}
	held := newHolding(bytes, memory)
	err := par.Map(ctx, workers, window,
		func(_ context.Context, give func(*slot) error) error {
			turn := int64(0)
			for t, err := range tasks {
				if err == nil {
					err = give(&slot{numbered: t, turn: turn})
				}
				if err != nil {
					return err
				}
				turn++
			}
			return nil
		},
		func(ctx context.Context, s *slot) error {
			if err := held.wait(ctx, s.turn); err != nil {
				return err
			}
			s.piece = getPiece()
			s.piece.room = &room{holding: held, ctx: ctx, turn: s.turn}
			if s.run != nil {
				if err := s.run(s.piece); err != nil {
					held.failed(s.piece)
					return err
				}
			}
			held.made(s.piece)
			return nil
		},
		func(s *slot) error {
			size := s.piece.size()
			if err := consume(s.job, s.piece); err != nil {
				return err
			}
			putPiece(s.piece)
			held.consumed(size)
			return nil
		})
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return ctx.Err() // what says that a run was stopped
	}
	return err
}

// numbered is a task with the job that it belongs to. A nil run is an empty
// piece: it says that a job with no task has begun.
type numbered struct {
	job int
	run task
}

// holding counts the bytes of pieces that are made and not yet consumed, and what
// is reserved for those that are being made.
type holding struct {
	mu    sync.Mutex
	moved *par.Cond // something was consumed, released, or waits
	bytes int64
	limit int64
	next  int64 // the turn that is to be consumed next

	memory   int64 // bounds bytes and reserved together; 0: no bound
	reserved int64
	active   int64 // of reserved: held by tasks that do not wait for more
}

func newHolding(limit, memory int64) *holding {
	h := &holding{limit: limit, memory: memory}
	h.moved = par.NewCond(&h.mu)
	return h
}

// room is what a task has reserved of the memory of a holding. A nil one is without
// bounds.
type room struct {
	*holding
	ctx      context.Context
	turn     int64
	reserved int64
}

// reserve waits until there is room for n more bytes. Where there will never be, it
// waits until everything else waits for this task's piece, and nobody is at work
// with what was reserved: so all together take no more than the bound, or one task
// takes more. It fails only when the context ends.
func (r *room) reserve(n int64) error {
	if r == nil || r.memory <= 0 || n <= 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fits := func() bool {
		return r.bytes+r.holding.reserved+n <= r.memory || r.turn == r.next && r.active == 0
	}
	r.active -= r.reserved
	if r.reserved > 0 {
		r.moved.Broadcast()
	}
	_ = r.moved.Wait(r.ctx, fits)
	r.active += r.reserved + n
	r.holding.reserved += n
	r.reserved += n
	return r.ctx.Err()
}

// keep gives back what is reserved beyond n bytes.
func (r *room) keep(n int64) {
	if r == nil || r.reserved <= n {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n -= r.reserved
	r.active += n
	r.holding.reserved += n
	r.reserved += n
	r.moved.Broadcast()
}

// wait returns when the task whose turn it is may begin: when there is room,
// or when everything waits for its piece.
func (h *holding) wait(ctx context.Context, turn int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.moved.Wait(ctx, func() bool { return h.bytes <= h.limit || turn == h.next })
}

// made counts a piece in place of what its task had reserved.
func (h *holding) made(p *piece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes += p.size()
	if n := p.room.reserved; n > 0 {
		h.active -= n
		h.reserved -= n
		h.moved.Broadcast()
	}
}

// failed says that the task of a piece is no longer at work with what it reserved. Nobody
// else gets that: tasks before it may still become the next to be consumed, and those after
// it are not wanted.
func (h *holding) failed(p *piece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active -= p.room.reserved
	h.moved.Broadcast()
}

func (h *holding) consumed(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes -= n
	h.next++
	h.moved.Broadcast()
}
