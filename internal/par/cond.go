package par

import (
	"context"
	"sync"
)

// Cond is a condition variable whose waiters also wake when their context ends. Create it with
// NewCond.
type Cond struct{ cond sync.Cond }

// NewCond returns a Cond that l guards.
func NewCond(l sync.Locker) *Cond {
	c := new(Cond)
	c.cond.L = l
	return c
}

// Wait waits until ok holds. When ctx ends while it does not, Wait returns ctx's cause. The caller
// holds the lock, which ok is called with; Wait gives it up while it waits.
func (c *Cond) Wait(ctx context.Context, ok func() bool) error {
	if ok() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() {
		c.cond.L.Lock()
		defer c.cond.L.Unlock()
		c.cond.Broadcast()
	})
	defer stop()
	for ctx.Err() == nil {
		c.cond.Wait()
		if ok() {
			return nil
		}
	}
	return context.Cause(ctx)
}

// Signal has one waiter look again whether its condition holds, Broadcast all of them. The caller
// may hold the lock.
func (c *Cond) Signal()    { c.cond.Signal() }
func (c *Cond) Broadcast() { c.cond.Broadcast() }
