package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
)

// Gate is a semaphore whose limit can change.
type Gate struct {
	mu      sync.Mutex
	changed *par.Cond
	limit   int
	inside  int
}

func NewGate(limit int) *Gate {
	g := &Gate{limit: limit}
	g.changed = par.NewCond(&g.mu)
	return g
}

// Enter waits for admission; false if ctx ends first.
func (g *Gate) Enter(ctx context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed.Wait(ctx, func() bool { return g.inside < g.limit }) != nil {
		return false
	}
	g.inside++
	return true
}

func (g *Gate) Leave() {
	g.mu.Lock()
	g.inside--
	g.changed.Signal()
	g.mu.Unlock()
}

// Set changes the limit. It does not affect those inside.
func (g *Gate) Set(limit int) {
	g.mu.Lock()
	g.limit = limit
	g.changed.Broadcast()
	g.mu.Unlock()
}

// Size returns the limit.
func (g *Gate) Size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit
}

// Occupied returns how many are inside.
func (g *Gate) Occupied() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}

// Await receives from a channel and counts the time that takes.
func Await[V any](ctx context.Context, from <-chan V, counts *Counters) (v V, err error) {
	select {
	case v = <-from:
		return v, nil
	default:
	}
	began := time.Now()
	select {
	case v = <-from:
	case <-ctx.Done():
		err = ctx.Err()
	}
	counts.Awaited(time.Since(began))
	return v, err
}
