package random

import (
	"slices"
	"testing"
)

// TestExactlyIsUniform counts what numbers from a range are drawn, one that
// does not divide 2⁶⁴ so that some draws are made again.
func TestExactlyIsUniform(t *testing.T) {
	const n, per = 7, 10_000
	var counts [n]int
	for i := range int64(n * per) {
		counts[Draws(5).Exactly(i, n)]++
	}
	var chi float64
	for _, c := range counts {
		chi += float64((c-per)*(c-per)) / per
	}
	if chi > 22.5 { // one in a thousand for 6 degrees of freedom
		t.Errorf("chi-squared %.1f: %v", chi, counts)
	}
	// Nearly half of these are drawn again.
	const large = 1<<63 + 1
	below := 0
	for i := range int64(1000) {
		v := Draws(5).Exactly(i, large)
		if v >= large {
			t.Fatalf("%d is not below %d", v, uint64(large))
		}
		if v < large/2 {
			below++
		}
	}
	if below < 420 || below > 580 {
		t.Errorf("%d of 1000 in the lower half", below)
	}
}

// TestNumbersStay checks that the numbers never change: sets made with them must be reproducible.
func TestNumbersStay(t *testing.T) {
	d := Draws(Key(1, 2))
	p := NewPermutation(1000, 3)
	got := []uint64{Key(1, 2), uint64(d.Below(7, 1000)), d.Exactly(7, 1000), uint64(p.At(0)), uint64(p.At(999))}
	if want := []uint64{11543549169943708947, 771, 771, 674, 869}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestFindUndoesAt(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 255, 256, 257, 1000, 1025, 70_000} {
		p := NewPermutation(n, 9)
		for i := range n {
			if got := p.Find(p.At(i)); got != i {
				t.Fatalf("of %d, number %d is at place %d, not %d", n, p.At(i), got, i)
			}
		}
	}
}
