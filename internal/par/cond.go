package par

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Cond is a condition variable whose waiters also wake when their context ends. Create it with
// NewCond.
type Cond struct {
	lock    sync.Locker
	waiting []chan struct{} // closed to wake; in the order in which they came
}

// NewCond returns a Cond that l guards.
func NewCond(l sync.Locker) *Cond { return &Cond{lock: l} }

// Wait waits until ok holds. When ctx ends while it does not, Wait returns ctx's cause. The caller
// holds the lock, which ok is called with; Wait gives it up while it waits.
func (c *Cond) Wait(ctx context.Context, ok func() bool) error {
	for !ok() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		woken := make(chan struct{})
		c.waiting = append(c.waiting, woken)
		c.lock.Unlock()
		select {
		case <-woken:
			c.lock.Lock()
		case <-ctx.Done():
			c.lock.Lock()
			if i := slices.Index(c.waiting, woken); i >= 0 {
				c.waiting = slices.Delete(c.waiting, i, i+1)
			}
		}
	}
	return nil
}

// Signal has the first waiter look again whether its condition holds. The caller holds the lock.
func (c *Cond) Signal() {
	if len(c.waiting) > 0 {
		close(c.waiting[0])
		c.waiting = slices.Delete(c.waiting, 0, 1)
	}
}

// Broadcast has all waiters look again. The caller holds the lock.
func (c *Cond) Broadcast() {
	for _, woken := range c.waiting {
		close(woken)
	}
	clear(c.waiting)
	c.waiting = c.waiting[:0]
}

// Sleep waits for d. When ctx ends first it returns its cause.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
