package features

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// TestTable compares a table with a map, for records that have any features in any order.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var table Table[int]
	want := map[string]int{}
	for range 1000 {
		table.Begin()
		for range rng.IntN(6) {
			key := strconv.Itoa(rng.IntN(8))
			n := table.Find([]byte(key))
			if (n != nil) != (want[key] > 0) {
				t.Fatalf("feature %s, seen %d times: found %v", key, want[key], n != nil)
			}
			if n == nil {
				n = table.Add(key, 0)
			}
			*n++
			want[key]++
		}
	}
	var keys []string
	for key, n := range table.All() {
		keys = append(keys, key)
		if *n != want[key] || table.Get(key) != n {
			t.Errorf("feature %s: %d, want %d", key, *n, want[key])
		}
	}
	if !slices.IsSorted(keys) || len(keys) != len(want) || table.Len() != len(want) {
		t.Errorf("features %v, want %d", keys, len(want))
	}
}
