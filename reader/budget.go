package reader

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/internal/par"
)

// MemoryStats is the memory that a running pipeline has in flight: the buffers
// of what is read ahead, of batches on their way, in queues and in the hands of
// the consumer, and, where MapOptions.Size tells, of what a [Map] function made.
// A [Pipe.Cache] in memory is not in it: it has a limit of its own.
type MemoryStats struct {
	// Limit is Options.Memory, InFlight what is used of it, and Peak the most
	// that ever was, all in bytes.
	Limit    int64 `json:"limit"`
	InFlight int64 `json:"in_flight"`
	Peak     int64 `json:"peak"`
	// Held is what the buffers of [Pipe.Shuffle] hold, in bytes: part of InFlight
	// where Options.Memory was given, else besides.
	Held int64 `json:"held"`
}

// budget accounts for the memory of MemoryStats.
//
// Nothing is read or made ahead beyond three quarters of the limit, and what is
// read ahead takes half of it at most. What somebody waits for is made all the
// same, so that there is always progress; the last quarter is for that. There are
// two such elements at most, one that is waited for and one in the making, so
// that only such as need more than an eighth of the limit can go over it.
//
// What shuffles hold was asked for by its number. It counts like anything else, so
// that less is read ahead, but never less than an eighth of the limit: only a
// buffer that holds more than five eighths goes over it. With a limit that nobody
// gave it comes besides.
//
// Waiters wake when memory is released, when their context ends, and on wake: the caller that makes
// their needed true must call it.
type budget struct {
	limit  int64
	trim   func() // gives up buffers that are kept for use again
	beside bool   // what is held is not part of used

	mu      sync.Mutex
	changed *par.Cond
	reading int64 // of used: what is read ahead
	used    int64
	peak    int64
	kept    int64 // besides, in buffers for use again
	held    int64 // in the buffers of shuffles
}

func newBudget(limit int64, trim func()) *budget {
	b := &budget{limit: limit, trim: trim}
	b.changed = par.NewCond(&b.mu)
	return b
}

// ahead is how much there may be of what nobody waits for yet.
func (b *budget) ahead() int64 {
	most := b.limit - b.limit/4
	if !b.beside {
		most = max(most, b.held+b.limit/8)
	}
	return most
}

// addHeld takes n bytes that a shuffle holds.
func (b *budget) addHeld(n int64) {
	b.mu.Lock()
	b.held += n
	if !b.beside {
		b.take(n, 0)
	}
	b.mu.Unlock()
}

// add takes n bytes, reading of which are for reading ahead. Negative numbers
// give back. It never waits.
func (b *budget) add(n, reading int64) {
	b.mu.Lock()
	b.take(n, reading)
	b.mu.Unlock()
}

func (b *budget) take(n, reading int64) {
	b.makeRoom(n)
	b.used += n
	b.reading += reading
	b.peak = max(b.peak, b.used)
	if n < 0 || reading < 0 {
		b.changed.Broadcast()
	}
}

// makeRoom gives up kept buffers where n more bytes need their place.
func (b *budget) makeRoom(n int64) {
	if n > 0 && b.kept > 0 && b.used+b.kept+n > b.ahead() {
		b.trim()
		b.kept = 0
	}
}

// keep reports whether a buffer of n bytes may be kept for use again.
func (b *budget) keep(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.kept+n > b.ahead() {
		return false
	}
	b.kept += n
	return true
}

// reuse takes a kept buffer out, and n bytes, as add does.
func (b *budget) reuse(kept, n, reading int64) {
	b.mu.Lock()
	b.kept = max(b.kept-kept, 0)
	b.take(n, reading)
	b.mu.Unlock()
}

// tryRead takes n bytes for reading ahead, when there is room for them.
func (b *budget) tryRead(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.readable(n) {
		return false
	}
	b.take(n, n)
	return true
}

func (b *budget) readable(n int64) bool {
	return b.reading+n <= b.limit/2 && b.used+n <= b.ahead()
}

// read takes n bytes for reading ahead, as soon as there is room for them, or
// needed says that somebody waits for them; false when ctx ends first.
func (b *budget) read(ctx context.Context, n int64, needed func() bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed.Wait(ctx, func() bool { return b.readable(n) || needed() }) != nil {
		return false
	}
	b.take(n, n)
	return true
}

// make takes n bytes for an element that is made ahead, as soon as there is room
// for it and for more bytes, or needed says that somebody waits for it; false
// when ctx ends first.
func (b *budget) make(ctx context.Context, n, more int64, needed func() bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed.Wait(ctx, func() bool { return b.used+n+more <= b.ahead() || needed() }) != nil {
		return false
	}
	b.take(n, 0)
	return true
}

// wake lets those who wait look again.
func (b *budget) wake() {
	b.mu.Lock()
	b.changed.Broadcast()
	b.mu.Unlock()
}

func (b *budget) snapshot() MemoryStats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return MemoryStats{b.limit, b.used, b.peak, b.held}
}
