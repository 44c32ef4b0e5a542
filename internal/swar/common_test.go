package swar

import (
	"math/rand/v2"
	"testing"
)

// Common counts as a loop over bytes does, in strings and slices that share any number of them.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a, b := make([]byte, r.IntN(40)), make([]byte, r.IntN(40))
		for i := range a {
			a[i] = byte(r.IntN(256))
		}
		copy(b, a)
		if i := r.IntN(40); i < len(b) {
			b[i] ^= 1 << r.IntN(8)
		}
		want := 0
		for want < min(len(a), len(b)) && a[want] == b[want] {
			want++
		}
		if got := Common(a, b); got != want {
			t.Fatalf("%x and %x: got %d, want %d", a, b, got, want)
		}
		if got := Common(string(a), string(b)); got != want {
			t.Fatalf("strings %x and %x: got %d, want %d", a, b, got, want)
		}
	}
}
