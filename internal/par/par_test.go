package par

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errStop = errors.New("enough")

// A bubble of synctest fails when a goroutine outlives its test, so each test in one also shows
// that none is left.

func TestForEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 3, 50} {
			const n = 40
			var seen [n]atomic.Int32
			var running, most atomic.Int32
			ForEach(t.Context(), n, workers, func(next func() (int, bool)) {
				if now := running.Add(1); now > most.Load() {
					most.Store(now)
				}
				defer running.Add(-1)
				for i, ok := next(); ok; i, ok = next() {
					time.Sleep(time.Duration(rand.N(100)))
					seen[i].Add(1)
				}
			})
			for i := range seen {
				if seen[i].Load() != 1 {
					t.Errorf("%d workers: number %d was given out %d times", workers, i, seen[i].Load())
				}
			}
			if workers > 0 && int(most.Load()) > min(workers, n) || running.Load() != 0 {
				t.Errorf("%d workers: %d ran at a time, %d still do", workers, most.Load(), running.Load())
			}
		}
	})
}

func TestForEachStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int32
		ForEach(ctx, 1000, 3, func(next func() (int, bool)) {
			for _, ok := next(); ok; _, ok = next() {
				time.Sleep(time.Millisecond)
				if done.Add(1) == 100 {
					cancel()
				}
			}
		})
		if n := done.Load(); n < 100 || n > 105 {
			t.Errorf("%d numbers were given out, want about 100", n)
		}
	})
}

// TestBudget has many goroutines acquire at random: together they never have more than the budget
// unless one is alone.
func TestBudget(t *testing.T) {
	b := NewBudget(100)
	var mu sync.Mutex
	used, count, alone := int64(0), 0, 0
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 500 {
				n := r.Int64N(130)
				if !b.TryAcquire(n) {
					if err := b.Acquire(context.Background(), n); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				if used, count = used+n, count+1; used > 100 {
					if alone++; n <= 100 || count > 1 && used > n {
						t.Errorf("%d together use %d", count, used)
					}
				}
				mu.Unlock()
				mu.Lock()
				used, count = used-n, count-1
				mu.Unlock()
				b.Release(n)
			}
		})
	}
	group.Wait()
	if alone == 0 {
		t.Error("none was larger than the budget")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Acquire(ctx, 100); err == nil {
		b.Release(100) // there was room
	}
	_ = b.Acquire(context.Background(), 100)
	if err := b.Acquire(ctx, 1); !errors.Is(err, context.Canceled) || b.TryAcquire(1) {
		t.Errorf("%v", err)
	}
	if err := b.WaitIdle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestBudgetWaitIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		_ = b.Acquire(t.Context(), 10)
		_ = b.Acquire(t.Context(), 20)
		idle := false
		var group sync.WaitGroup
		group.Go(func() {
			if err := b.WaitIdle(t.Context()); err != nil {
				t.Error(err)
			}
			idle = true
		})
		for _, n := range []int64{10, 20} {
			synctest.Wait()
			if idle {
				t.Errorf("idle, and %d bytes are in use", n)
			}
			b.Release(n)
		}
		group.Wait()
		if err := b.Acquire(t.Context(), 100); err != nil {
			t.Error(err)
		}
	})
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := Sleep(t.Context(), time.Second); err != nil || time.Since(began) != time.Second {
			t.Errorf("slept %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errStop) })
		began = time.Now()
		if err := Sleep(ctx, time.Hour); err != errStop || time.Since(began) != time.Second {
			t.Errorf("slept %v: %v", time.Since(began), err)
		}
	})
}
