package crash

import "testing"

func TestCrash(t *testing.T) {
	go func() { panic("in a goroutine") }()
	select {}
}

func TestGood(t *testing.T) {}
