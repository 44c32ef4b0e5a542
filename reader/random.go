package reader

import "github.com/tfrec/tfrec/internal/random"

// What randomness is for: each purpose has a stream of its own, so that no two
// of them go together.
const (
	forFiles uint64 = iota + 1
	forShuffle
	forOrder
	forWindow
)

// key hashes numbers to one.
func key(words ...uint64) uint64 { return random.Key(words...) }

// draws is a sequence of random numbers, each of which can be had without those
// before: a place in it needs no memory.
type draws random.Draws

// below returns number i of the sequence, at least 0 and below n.
func (d draws) below(i int64, n int) int { return random.Draws(d).Below(i, n) }

// permute puts s into a random order (Fisher and Yates).
func permute[T any](s []T, d draws) {
	for i := len(s) - 1; i > 0; i-- {
		j := d.below(int64(i), i+1)
		s[i], s[j] = s[j], s[i]
	}
}
