package pipeline

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/random"
)

// Purposes of random numbers: each has its own stream, so that they are independent.
const (
	ForFiles uint64 = iota + 1
	ForShuffle
	ForOrder
	ForWindow
	ForMix
	ForSample
	ForResample
)

// Key hashes numbers into one.
func Key(words ...uint64) uint64 { return random.Key(words...) }

// Draws is a sequence of random numbers with random access, so that a position in it needs no
// memory.
type Draws random.Draws

// Below returns number i of the sequence, in [0, n).
func (d Draws) Below(i int64, n int) int { return random.Draws(d).Below(i, n) }

// Float returns number i of the sequence, in [0, 1).
func (d Draws) Float(i int64) float64 { return random.Draws(d).Float(i) }

// Permute shuffles s (Fisher-Yates).
func Permute[T any](s []T, d Draws) {
	for i := len(s) - 1; i > 0; i-- {
		j := d.Below(int64(i), i+1)
		s[i], s[j] = s[j], s[i]
	}
}

// CheckWeights returns an error for weights that cannot be scaled to probabilities.
func CheckWeights(weights []float64) error {
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
