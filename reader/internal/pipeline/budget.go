package pipeline

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/internal/par"
)

// MemoryStats is the memory that a running pipeline has in flight: read-ahead buffers, batches in
// progress, in queues and in use by the consumer, and, if MapOptions.Size is set, the results of
// Map functions. A Flow.Cache in memory is not included: it has its own limit.
type MemoryStats struct {
	// Limit is Options.Memory, InFlight the part in use, and Peak its maximum so far, all in bytes.
	Limit    int64 `json:"limit"`
	InFlight int64 `json:"in_flight"`
	Peak     int64 `json:"peak"`
	// Held is the size in bytes of the records in buffers of Flow.Shuffle: part of InFlight if
	// Options.Memory was set, otherwise in addition to it.
	Held int64 `json:"held"`
}

// budget accounts for the memory of MemoryStats.
//
// Nothing is read or made ahead beyond three quarters of the limit, and read-ahead takes at most
// half of it. An element that the consumer waits for is made regardless, so that there is always
// progress; the last quarter is for that. There are at most two such elements, one waited for and
// one in progress, so that only elements that need more than an eighth of the limit can exceed it.
//
// The user chose the number of records that shuffles hold. They count like anything else, so that
// less is read ahead, but never less than an eighth of the limit: only a buffer that holds more
// than five eighths exceeds it. With a default limit it is counted separately.
//
// Waiters wake when memory is released, when their context ends, and on wake: the caller that makes
// their needed true must call it.
type budget struct {
	limit  int64
	trim   func() // drops buffers kept for reuse
	beside bool   // held is not part of used

	mu      sync.Mutex
	changed *par.Cond
	Reading int64 // of used: read-ahead
	used    int64
	peak    int64
	kept    int64 // in addition, in buffers for reuse
	held    int64 // in the buffers of shuffles
}

func NewBudget(limit int64, trim func()) *budget {
	b := &budget{limit: limit, trim: trim}
	b.changed = par.NewCond(&b.mu)
	return b
}

// ahead returns the limit for reading and making elements in advance.
func (b *budget) ahead() int64 {
	most := b.limit - b.limit/4
	if !b.beside {
		most = max(most, b.held+b.limit/8)
	}
	return most
}

// AddHeld accounts for n bytes that a shuffle holds.
func (b *budget) AddHeld(n int64) {
	b.mu.Lock()
	b.held += n
	if !b.beside {
		b.take(n, 0)
	}
	b.mu.Unlock()
}

// Add accounts for n bytes, reading of which are read-ahead. Negative numbers release. It never
// waits.
func (b *budget) Add(n, reading int64) {
	b.mu.Lock()
	b.take(n, reading)
	b.mu.Unlock()
}

func (b *budget) take(n, reading int64) {
	b.makeRoom(n)
	b.used += n
	b.Reading += reading
	b.peak = max(b.peak, b.used)
	if n < 0 || reading < 0 {
		b.changed.Broadcast()
	}
}

// makeRoom drops kept buffers if n more bytes need their space.
func (b *budget) makeRoom(n int64) {
	if n > 0 && b.kept > 0 && b.used+b.kept+n > b.ahead() {
		b.trim()
		b.kept = 0
	}
}

// keep reports whether a buffer of n bytes may be kept for reuse.
func (b *budget) keep(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.kept+n > b.ahead() {
		return false
	}
	b.kept += n
	return true
}

// reuse removes a kept buffer and accounts for n bytes as add does.
func (b *budget) reuse(kept, n, reading int64) {
	b.mu.Lock()
	b.kept = max(b.kept-kept, 0)
	b.take(n, reading)
	b.mu.Unlock()
}

// TryRead takes n bytes for read-ahead if there is room for them.
func (b *budget) TryRead(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.readable(n) {
		return false
	}
	b.take(n, n)
	return true
}

func (b *budget) readable(n int64) bool {
	return b.Reading+n <= b.limit/2 && b.used+n <= b.ahead()
}

// Read takes n bytes for read-ahead as soon as there is room for them, or needed reports that the
// consumer waits for them; false if ctx ends first.
func (b *budget) Read(ctx context.Context, n int64, needed func() bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed.Wait(ctx, func() bool { return b.readable(n) || needed() }) != nil {
		return false
	}
	b.take(n, n)
	return true
}

// Make takes n bytes for an element made in advance as soon as there is room for it and for more
// bytes, or needed reports that the consumer waits for it; false if ctx ends first.
func (b *budget) Make(ctx context.Context, n, more int64, needed func() bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed.Wait(ctx, func() bool { return b.used+n+more <= b.ahead() || needed() }) != nil {
		return false
	}
	b.take(n, 0)
	return true
}

// Wake makes all waiters check again.
func (b *budget) Wake() {
	b.mu.Lock()
	b.changed.Broadcast()
	b.mu.Unlock()
}

func (b *budget) Snapshot() MemoryStats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return MemoryStats{b.limit, b.used, b.peak, b.held}
}
