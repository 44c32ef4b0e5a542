package memory

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"testing"
)

func TestLimit(t *testing.T) {
	if n := Limit(); n < 64<<20 {
		t.Errorf("%d bytes", n)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(100 << 20))
	if n := Limit(); n != 100<<20 {
		t.Errorf("%d bytes with a soft limit of 100 MiB", n)
	}
	debug.SetMemoryLimit(math.MaxInt64)
}

// TestGate: all that is admitted together takes no more than the size, or is alone.
func TestGate(t *testing.T) {
	g := NewGate(100)
	var mu sync.Mutex
	inside, count, alone := int64(0), 0, 0
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 500 {
				n := r.Int64N(130)
				if err := g.Acquire(context.Background(), n); err != nil {
					t.Error(err)
				}
				mu.Lock()
				if inside, count = inside+n, count+1; inside > 100 {
					if alone++; n <= 100 || count > 1 && inside > n {
						t.Errorf("%d inside take %d", count, inside)
					}
				}
				mu.Unlock()
				mu.Lock()
				inside, count = inside-n, count-1
				mu.Unlock()
				g.Release(n)
			}
		})
	}
	group.Wait()
	if alone == 0 {
		t.Error("nobody was inside alone")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.Acquire(ctx, 100); err == nil {
		g.Release(100) // there was room
	}
	_ = g.Acquire(context.Background(), 100)
	if err := g.Acquire(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
