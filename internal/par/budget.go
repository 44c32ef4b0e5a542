package par

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Budget bounds the bytes that are in use. A request larger than the whole budget is admitted
// alone. Waiters are admitted in order, so holders must not wait for bytes that have not been
// admitted.
type Budget struct {
	size int64
	room *semaphore.Weighted
}

// NewBudget returns a budget of size bytes, at least one.
func NewBudget(size int64) *Budget {
	size = max(size, 1)
	return &Budget{size, semaphore.NewWeighted(size)}
}

// Acquire waits for room for n bytes. It fails only when ctx ends first.
func (b *Budget) Acquire(ctx context.Context, n int64) error {
	return b.room.Acquire(ctx, b.charge(n))
}

// TryAcquire is Acquire if there is room now and nothing else waits for it. Otherwise it returns
// false.
func (b *Budget) TryAcquire(n int64) bool { return b.room.TryAcquire(b.charge(n)) }

// Release ends what Acquire of as many bytes began.
func (b *Budget) Release(n int64) { b.room.Release(b.charge(n)) }

// WaitIdle waits until all that was acquired is released. It fails only when ctx ends first.
func (b *Budget) WaitIdle(ctx context.Context) error {
	if err := b.room.Acquire(ctx, b.size); err != nil {
		return err
	}
	b.room.Release(b.size)
	return nil
}

// charge returns the share of the budget for n bytes.
func (b *Budget) charge(n int64) int64 { return max(0, min(n, b.size)) }
