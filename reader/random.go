package reader

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/random"
)

// Purposes of random numbers: each has its own stream, so that they are independent.
const (
	forFiles uint64 = iota + 1
	forShuffle
	forOrder
	forWindow
	forMix
	forSample
	forResample
)

// key hashes numbers into one.
func key(words ...uint64) uint64 { return random.Key(words...) }

// draws is a sequence of random numbers with random access, so that a position in it needs no
// memory.
type draws random.Draws

// below returns number i of the sequence, in [0, n).
func (d draws) below(i int64, n int) int { return random.Draws(d).Below(i, n) }

// float returns number i of the sequence, in [0, 1).
func (d draws) float(i int64) float64 { return random.Draws(d).Float(i) }

// permute shuffles s (Fisher-Yates).
func permute[T any](s []T, d draws) {
	for i := len(s) - 1; i > 0; i-- {
		j := d.below(int64(i), i+1)
		s[i], s[j] = s[j], s[i]
	}
}

// checkWeights refuses weights that are no probabilities.
func checkWeights(weights []float64) error {
	total := 0.0
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("weight %d is %g: want a number of 0 or more", i, w)
		}
		total += w
	}
	if !(total > 0 && total <= math.MaxFloat64) {
		return fmt.Errorf("the weights add up to %g: want a number above 0", total)
	}
	return nil
}
