package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestBudget(t *testing.T) { synctest.Test(t, admitByBudget) }

func admitByBudget(t *testing.T) {
	b := NewBudget(1000, func() {})
	ctx, cancel := context.WithCancel(t.Context())
	never := func() bool { return false }
	if !b.TryRead(400) || b.TryRead(200) {
		t.Error("what is read ahead may take 500 of 1000")
	}
	b.Add(300, 0)
	if b.TryRead(100) {
		t.Error("800 of 1000 are ahead of what is waited for; want 750 at most")
	}
	if !b.Read(ctx, 5000, func() bool { return true }) {
		t.Error("what is waited for has to wait")
	}
	b.Add(-5000, -5000)
	admitted := make(chan bool)
	go func() { admitted <- b.Read(ctx, 100, never) }()
	synctest.Wait()
	select {
	case <-admitted:
		t.Fatal("it did not wait")
	default:
	}
	b.Add(-300, 0)
	if !<-admitted {
		t.Error("memory came back, and it still waits")
	}
	go func() { admitted <- b.Make(ctx, 400, 0, never) }()
	synctest.Wait()
	cancel()
	if <-admitted {
		t.Error("admitted after the end")
	}
	if got := b.Snapshot(); got != (MemoryStats{Limit: 1000, InFlight: 500, Peak: 5700}) {
		t.Errorf("%+v", got)
	}
}
