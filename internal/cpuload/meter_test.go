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
	others, known := m.Others()
	if runtime.GOOS == "linux" && (!known || others < 0 || others > float64(runtime.NumCPU())+1) {
		t.Errorf("others take %g processors, %v", others, known)
	}
}
