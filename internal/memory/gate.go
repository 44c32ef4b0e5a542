package memory

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Gate admits work in order, as long as all of it together takes no more than its size. Work that
// takes more is admitted alone. A Gate is safe for concurrent use; admitted work must not wait for
// work that is not.
type Gate struct {
	size int64
	room *semaphore.Weighted
}

// NewGate makes a gate of so many bytes, at least one.
func NewGate(size int64) *Gate {
	size = max(size, 1)
	return &Gate{size, semaphore.NewWeighted(size)}
}

// Acquire waits for room for n bytes. It fails only when ctx ends first.
func (g *Gate) Acquire(ctx context.Context, n int64) error {
	return g.room.Acquire(ctx, g.taken(n))
}

// Release ends what Acquire of as many bytes began.
func (g *Gate) Release(n int64) { g.room.Release(g.taken(n)) }

// taken is how much of the gate n bytes take.
func (g *Gate) taken(n int64) int64 { return max(0, min(n, g.size)) }
