package pipeline

import "testing"

// TestSpareTokens: help is granted as long as there are tokens, and those are given back.
func TestSpareTokens(t *testing.T) {
	r := &Run{Engine: &Engine{Tokens: make(chan struct{}, 2)}}
	if !r.Acquire(t.Context()) {
		t.Fatal("no token")
	}
	spare := SpareTokens(r.Tokens)
	if !spare.TryAcquire() || spare.TryAcquire() {
		t.Error("a goroutine at work and one token: want one helper")
	}
	spare.Release()
	if !spare.TryAcquire() {
		t.Error("no helper where one has finished")
	}
}
