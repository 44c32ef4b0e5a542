package race

import "testing"

// Skip skips a test under the race detector: one of a single goroutine, or of time and memory, which
// takes minutes there and in which the detector finds nothing.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("of one goroutine, or of time and memory: it runs without the race detector")
	}
}
