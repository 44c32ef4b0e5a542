package memory

import (
	"math"
	"runtime/debug"
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
