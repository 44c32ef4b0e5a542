package torture

import "testing"

// CheckUniform checks that all outcomes occur about equally often.
func CheckUniform(t *testing.T, counts map[string]int, outcomes, runs int) {
	t.Helper()
	if len(counts) != outcomes {
		t.Fatalf("%d outcomes, want %d", len(counts), outcomes)
	}
	var chi float64
	mean := float64(runs) / float64(outcomes)
	for _, n := range counts {
		chi += (float64(n) - mean) * (float64(n) - mean) / mean
	}
	if chi > 2.2*float64(outcomes) { // probability below one in a thousand
		t.Errorf("chi-squared %.1f for %d outcomes: %v", chi, outcomes, counts)
	}
}
