package race

import "testing"

// Few returns few under the race detector in the short form, and otherwise all: how many cases a test
// tries whose cases run the same goroutines.
func Few(all, few int) int {
	if Enabled && testing.Short() {
		return min(all, few)
	}
	return all
}
