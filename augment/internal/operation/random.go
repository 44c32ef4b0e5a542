package operation

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/exact"
)

// Random generates the numbers of one draw. Its results for a seed, a key and a copy define the
// meaning of seeds and never change: a test compares some of them.
type Random struct{ pcg *rand.PCG }

// RandomFor seeds PCG-DXSM with XXH3-128 of the seed and the copy, both as 8
// bytes little-endian, "augment", a zero byte, and the key.
func RandomFor(seed uint64, key string, copy int) Random {
	var h xxh3.Hasher
	var number [16]byte
	binary.LittleEndian.PutUint64(number[:8], seed)
	binary.LittleEndian.PutUint64(number[8:], uint64(copy))
	h.Write(number[:])
	h.WriteString("augment\x00")
	h.WriteString(key)
	sum := h.Sum128()
	return Random{rand.NewPCG(sum.Hi, sum.Lo)}
}

// seed returns what seeds the noise in a step. It has 53 bits, so that readers
// of JSON that know only floating-point numbers keep it whole.
func (r Random) seed() uint64 { return r.pcg.Uint64() >> 11 }

// unit returns a number of 0 to 1, 1 excluded.
func (r Random) unit() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// Chance is true with probability p. It uses up a number whatever p is.
func (r Random) Chance(p float64) bool { return r.unit() < p }

// below returns an integer of 0 to n-1, for n of at least 1 and below 2^32. The
// numbers' probabilities differ by at most n parts in 2^53.
func (r Random) below(n int) int { return int(float64(r.unit() * float64(n))) }

// between returns a number of lo to hi. It is lo where both are the same.
func (r Random) between(lo, hi float64) float64 {
	return min(lo+float64((hi-lo)*r.unit()), hi)
}

// betweenLogs returns a number of lo to hi, both over 0, whose logarithm is
// distributed evenly.
func (r Random) betweenLogs(lo, hi float64) float64 {
	return min(max(exact.Exp(r.between(exact.Log(lo), exact.Log(hi))), lo), hi)
}

// integer returns an integer of lo to hi, both included.
func (r Random) integer(lo, hi int) int { return lo + r.below(hi-lo+1) }

// beta returns a number of 0 to 1 with the distribution Beta(a, a), for a over 0: by the methods of
// Jöhnk, in logarithms, and of Ulrich (Devroye: Non-Uniform Random Variate Generation, 1986, IX.3
// and IX.4).
func (r Random) beta(a float64) float64 {
	if a <= 0.5 {
		for {
			x, y := exact.Log(1-r.unit())/a, exact.Log(1-r.unit())/a
			if exact.Exp(x)+exact.Exp(y) <= 1 {
				return 1 / (1 + exact.Exp(y-x))
			}
		}
	}
	for {
		u, v := r.unit(), 2*r.unit()-1
		s := float64(u*u) + float64(v*v)
		if s > 0 && s <= 1 {
			return 0.5 + float64(float64(u*v/s)*math.Sqrt(1-exact.Pow(s, 2/(2*a-1))))
		}
	}
}
