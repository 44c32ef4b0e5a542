package plan

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/tfrec/tfrec/internal/par"
)

// heldBytes bounds the size of finished pieces that are not yet written: above it, only the piece
// to be written next is begun. The pieces in progress, one per worker, come in addition.
const heldBytes = 64 << 20

// window is the number of pieces that wait for their turn, and of those that wait for the goroutine of
// their shard.
func window(workers int) int { return 2*workers + 2 }

// ordered runs tasks on workers goroutines and hands their pieces to consume in the order of the
// tasks. At most window pieces wait for consume, and bytes bounds the size of all pieces that are
// not freed, so memory is bounded whatever the number of tasks. memory bounds the size of the
// pieces plus the reservations of tasks ([Piece.Reserve]); 0 means no bound. consume must free each
// piece, at once or later, unless it returns an error. The error is the first one in the order of
// the tasks, or ctx's.
func ordered(ctx context.Context, tasks iter.Seq2[numbered, error], workers, window int, bytes, memory int64, consume func(t numbered, p *Piece) error) error {
	type slot struct {
		numbered
		turn  int64
		piece *Piece
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
			return consume(s.numbered, s.piece)
		})
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return ctx.Err() // the reason why a run was stopped
	}
	return err
}

// numbered is a task with its shard. A nil run makes an empty piece, which ends the shard.
type numbered struct {
	shard int
	run   Fill
}

// holding counts the bytes of finished pieces that are not yet freed, and the reservations for
// pieces in progress.
type holding struct {
	mu    sync.Mutex
	moved *par.Cond // signals that something was consumed or released, or waits
	bytes int64
	limit int64
	next  int64          // the first turn whose piece is not freed
	freed map[int64]bool // turns after next whose pieces are

	memory   int64 // bounds bytes and reserved together; 0: no bound
	reserved int64
	active   int64 // of reserved: held by tasks that are not waiting for more
}

func newHolding(limit, memory int64) *holding {
	h := &holding{limit: limit, memory: memory, freed: map[int64]bool{}}
	h.moved = par.NewCond(&h.mu)
	return h
}

// room is a task's reservation in a holding. A nil one is unbounded.
type room struct {
	*holding
	ctx      context.Context
	turn     int64
	reserved int64
}

// reserve waits until there is room for n more bytes. If there never will be, it waits until
// everything else waits for this task's piece and no other task is using its reservation: so either
// all tasks together stay within the bound, or a single task exceeds it. It fails only if the
// context ends.
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

// keep releases the reservation beyond n bytes.
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

// wait returns when the task with this turn may begin: when there is room, or when everything waits
// for its piece.
func (h *holding) wait(ctx context.Context, turn int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.moved.Wait(ctx, func() bool { return h.bytes <= h.limit || turn == h.next })
}

// made replaces a task's reservation by the size of its piece.
func (h *holding) made(p *Piece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes += p.size()
	if n := p.room.reserved; n > 0 {
		h.active -= n
		h.reserved -= n
		h.moved.Broadcast()
	}
}

// failed marks the task of a piece as no longer using its reservation. Other tasks cannot use it:
// earlier tasks may still become the next to be consumed, and the results of later ones are not
// needed.
func (h *holding) failed(p *Piece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active -= p.room.reserved
	h.moved.Broadcast()
}

// consumed frees the n bytes of a turn's piece. Pieces of several shards are freed in any order.
func (h *holding) consumed(turn, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes -= n
	h.freed[turn] = true
	for h.freed[h.next] {
		delete(h.freed, h.next)
		h.next++
	}
	h.moved.Broadcast()
}
