package par

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Cond is a condition variable whose waiters also wake when their context ends. Each waits for a
// condition of its own, and only those whose condition holds wake: many waiters cost a caller of
// Broadcast a call of a function each, but no one else the lock. Create it with NewCond.
type Cond struct {
	lock    sync.Locker
	waiting []*waiter // in the order in which they came
}

// waiter is a goroutine in Wait.
type waiter struct {
	ok    func() bool
	woken chan struct{} // closed to wake
}

// NewCond returns a Cond that l guards.
func NewCond(l sync.Locker) *Cond { return &Cond{lock: l} }

// Wait waits until ok holds. When ctx ends while it does not, Wait returns ctx's cause. The caller
// holds the lock, which ok is called with, also by goroutines that signal; Wait gives it up while
// it waits.
func (c *Cond) Wait(ctx context.Context, ok func() bool) error {
	for !ok() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w := &waiter{ok, make(chan struct{})}
		c.waiting = append(c.waiting, w)
		c.lock.Unlock()
		select {
		case <-w.woken:
			c.lock.Lock()
		case <-ctx.Done():
			c.lock.Lock()
			if i := slices.Index(c.waiting, w); i >= 0 {
				c.waiting = slices.Delete(c.waiting, i, i+1)
			}
		}
	}
	return nil
}

// Signal wakes the first waiter whose condition holds. The caller holds the lock.
func (c *Cond) Signal() {
	for i, w := range c.waiting {
		if w.ok() {
			close(w.woken)
			c.waiting = slices.Delete(c.waiting, i, i+1)
			return
		}
	}
}

// Broadcast wakes all waiters whose condition holds. The caller holds the lock.
func (c *Cond) Broadcast() {
	c.waiting = slices.DeleteFunc(c.waiting, func(w *waiter) bool {
		ok := w.ok()
		if ok {
			close(w.woken)
		}
		return ok
	})
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
