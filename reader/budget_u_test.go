package reader

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestBudget(t *testing.T) { synctest.Test(t, admitByBudget) }

func admitByBudget(t *testing.T) {
	b := newBudget(1000, func() {})
	ctx, cancel := context.WithCancel(t.Context())
	never := func() bool { return false }
	if !b.tryRead(400) || b.tryRead(200) {
		t.Error("what is read ahead may take 500 of 1000")
	}
	b.add(300, 0)
	if b.tryRead(100) {
		t.Error("800 of 1000 are ahead of what is waited for; want 750 at most")
	}
	if !b.read(ctx, 5000, func() bool { return true }) {
		t.Error("what is waited for has to wait")
	}
	b.add(-5000, -5000)
	admitted := make(chan bool)
	go func() { admitted <- b.read(ctx, 100, never) }()
	synctest.Wait()
	select {
	case <-admitted:
		t.Fatal("it did not wait")
	default:
	}
	b.add(-300, 0)
	if !<-admitted {
		t.Error("memory came back, and it still waits")
	}
	go func() { admitted <- b.make(ctx, 400, 0, never) }()
	synctest.Wait()
	cancel()
	if <-admitted {
		t.Error("admitted after the end")
	}
	if got := b.snapshot(); got != (MemoryStats{Limit: 1000, InFlight: 500, Peak: 5700}) {
		t.Errorf("%+v", got)
	}
}
