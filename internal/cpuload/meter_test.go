package cpuload

import (
	"runtime"
	"testing"
	"time"
)

// The processor time of this process grows with what it computes, and not while it sleeps.
func TestProcess(t *testing.T) {
	m := Start()
	if _, known := m.Process(); !known {
		t.Skip("not known here")
	}
	time.Sleep(20 * time.Millisecond)
	slept, _ := m.Process()
	for n := 0; ; n++ {
		if took, _ := m.Process(); took >= slept+50*time.Millisecond {
			break
		}
	}
	if delayed, known := m.Delayed(); runtime.GOOS == "linux" && (!known || delayed < 0) {
		t.Errorf("delayed for %v, %v", delayed, known)
	}
	others, known := m.Others()
	if runtime.GOOS == "linux" && (!known || others < 0 || others > float64(runtime.NumCPU())+1) {
		t.Errorf("others take %g processors, %v", others, known)
	}
}
