package reader

import (
	"context"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
)

// gate is a semaphore whose limit can change.
type gate struct {
	mu      sync.Mutex
	changed *par.Cond
	limit   int
	inside  int
}

func newGate(limit int) *gate {
	g := &gate{limit: limit}
	g.changed = par.NewCond(&g.mu)
	return g
}

// enter waits for admission; false if ctx ends first.
func (g *gate) enter(ctx context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed.Wait(ctx, func() bool { return g.inside < g.limit }) != nil {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	g.inside--
	g.changed.Signal()
	g.mu.Unlock()
}

// set changes the limit. It does not affect those inside.
func (g *gate) set(limit int) {
	g.mu.Lock()
	g.limit = limit
	g.changed.Broadcast()
	g.mu.Unlock()
}

// size returns the limit.
func (g *gate) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit
}

// occupied returns how many are inside.
func (g *gate) occupied() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}

// await receives from a channel and counts the time that takes.
func await[V any](ctx context.Context, from <-chan V, counts *stageStats) (v V, err error) {
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
	counts.awaited(time.Since(began))
	return v, err
}
