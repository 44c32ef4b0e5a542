package records

import (
	"math"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/random"
)

func TestPermutation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 5, 64, 100, 1000, 1023, 1024, 1025, 4096, 4097, 10_000} {
		seen := make([]bool, n)
		p := random.NewPermutation(n, 9)
		for i := range n {
			v := p.At(i)
			if v < 0 || v >= n || seen[v] {
				t.Fatalf("of %d: %d comes to %d", n, i, v)
			}
			seen[v] = true
		}
	}
	p := random.NewPermutation(1<<40+7, 9)
	for i := range int64(1000) {
		if v := p.At(i << 30); v < 0 || v > 1<<40+6 {
			t.Fatalf("%d comes to %d", i<<30, v)
		}
	}
}

// Each element is about equally likely at each position, and pairs are in either order.
func TestPermutationIsEven(t *testing.T) {
	for _, n := range []int64{2, 3, 10, 37} {
		const rounds = 5000
		at := make([]int, n*n)
		firsts := 0
		for seed := range uint64(rounds) {
			p := random.NewPermutation(n, seed)
			place := make([]int64, n)
			for i := range n {
				v := p.At(i)
				at[v*n+i]++
				place[v] = i
			}
			if place[0] < place[1] {
				firsts++
			}
		}
		want := float64(rounds) / float64(n)
		spread := 6 * math.Sqrt(want) // six standard deviations
		for i, k := range at {
			if math.Abs(float64(k)-want) > spread {
				t.Errorf("of %d: %d comes to %d in %d of %d orders, want about %.0f", n, int64(i)/n, int64(i)%n, k, rounds, want)
			}
		}
		if math.Abs(float64(firsts)-rounds/2) > 6*math.Sqrt(rounds)/2 {
			t.Errorf("of %d: 0 comes before 1 in %d of %d", n, firsts, rounds)
		}
	}
}

func TestOrderWithRuns(t *testing.T) {
	for _, total := range []int64{1, 2, 7, 63, 64, 65, 300} {
		for _, block := range []int64{1, 2, 7, 16, 5000} {
			for _, window := range []int64{1, 2, 5, 64} {
				for seed := range uint64(3) {
					o := NewOrder(total, block, window, seed)
					var got []int64
					for i := range total {
						got = append(got, o.At(i))
					}
					// Positions may be looked up in any order.
					for i := total - 1; i >= 0; i -= 3 {
						if o.At(i) != got[i] {
							t.Fatalf("place %d is another one when asked again", i)
						}
					}
					// A window has only whole runs.
					runs := map[int64]bool{}
					for _, v := range got[:min(total, block*(window-1)+1)] {
						runs[v/block] = true
					}
					if n := int64(len(runs)); block > 1 && n > window {
						t.Errorf("%d records in runs of %d: the first window of %d has %d", total, block, window, n)
					}
					slices.Sort(got)
					for i, v := range got {
						if v != int64(i) {
							t.Fatalf("%d records in runs of %d, %d a window: no permutation", total, block, window)
						}
					}
				}
			}
		}
	}
}
