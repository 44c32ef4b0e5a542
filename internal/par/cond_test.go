package par

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCondWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		changed, ready := NewCond(&mu), false
		ctx, cancel := context.WithCancelCause(t.Context())
		results := make([]error, 6)
		var group sync.WaitGroup
		for i := range results {
			group.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				its := t.Context()
				if i%2 == 0 {
					its = ctx
				}
				results[i] = changed.Wait(its, func() bool { return ready })
			})
		}
		synctest.Wait()
		cancel(errStop)
		synctest.Wait() // those of ctx return, though nobody wakes them
		mu.Lock()
		ready = true
		changed.Broadcast()
		mu.Unlock()
		group.Wait()
		for i, err := range results {
			if i%2 == 0 && err != errStop || i%2 == 1 && err != nil {
				t.Errorf("waiter %d: %v", i, err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if err := changed.Wait(ctx, func() bool { return true }); err != nil {
			t.Errorf("what holds is not waited for: %v", err)
		}
		if err := changed.Wait(ctx, func() bool { return false }); err != errStop {
			t.Errorf("after its context ended: %v", err)
		}
	})
}

// TestCondSignal passes a few tokens among many goroutines, some of which give up at random: no
// signal is lost, and none is left waiting.
func TestCondSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		freed, tokens, got, gaveUp := NewCond(&mu), 3, 0, 0
		var group sync.WaitGroup
		for i := range 200 {
			group.Go(func() {
				r := rand.New(rand.NewPCG(2, uint64(i)))
				for range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(100)))
					if r.IntN(3) > 0 {
						cancel()
						ctx, cancel = context.WithCancel(t.Context())
					}
					mu.Lock()
					err := freed.Wait(ctx, func() bool { return tokens > 0 })
					cancel()
					if err != nil {
						gaveUp++
						mu.Unlock()
						continue
					}
					got++
					tokens--
					mu.Unlock()
					time.Sleep(time.Duration(r.IntN(5)))
					mu.Lock()
					tokens++
					freed.Signal()
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if tokens != 3 || got == 0 || gaveUp == 0 {
			t.Errorf("%d tokens, taken %d times, given up %d times", tokens, got, gaveUp)
		}
	})
}
