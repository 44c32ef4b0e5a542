// Package random has seeded random numbers and orders that need no memory: each can be computed
// without those before it. They never change: sets made with them must be reproducible.
package random

import "math/bits"

// mix is the output function of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014), with Stafford's constants (variant 13).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// golden is the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// Key hashes numbers to one.
func Key(words ...uint64) uint64 {
	h := uint64(golden)
	for _, w := range words {
		h = mix(h+golden) ^ mix(w+golden)
		h = mix(h)
	}
	return h
}

// Draws is a sequence of random numbers.
type Draws uint64

// at returns number i of the sequence.
func (d Draws) at(i int64) uint64 { return mix(uint64(d) + golden*uint64(i+1)) }

// Below returns number i of the sequence, at least 0 and below n, which is above 0.
// Some numbers are more likely than others by n in 2⁶⁴.
func (d Draws) Below(i int64, n int) int {
	hi, _ := bits.Mul64(d.at(i), uint64(n))
	return int(hi)
}

// Float returns number i of the sequence as one of the 2⁵³ multiples of 2⁻⁵³ from 0 up to, not
// including, 1.
func (d Draws) Float(i int64) float64 { return float64(d.at(i)>>11) / (1 << 53) }

// Exactly is Below without any number being more likely: what would make it so
// is drawn again, from a sequence of its own (Lemire: Fast Random Integer
// Generation in an Interval, 2019).
func (d Draws) Exactly(i int64, n uint64) uint64 {
	hi, lo := bits.Mul64(d.at(i), n)
	if lo < n {
		again := Draws(Key(uint64(d), uint64(i)))
		for j, least := int64(0), -n%n; lo < least; j++ {
			hi, lo = bits.Mul64(again.at(j), n)
		}
	}
	return hi
}

// Permutation is a seeded order of the numbers below n which needs no list: a
// Feistel network over the next power of two, walked along its cycles until it
// falls below n (Black and Rogaway: Ciphers with Arbitrary Finite Domains,
// 2002).
type Permutation struct {
	n           uint64
	left, right uint // bits of the halves
	keys        [8]uint64
}

// leastBits makes small permutations walk over a larger domain, for there are
// few networks of a few bits.
const leastBits = 8

// NewPermutation returns an order of the numbers from 0 to n-1.
func NewPermutation(n int64, seed uint64) Permutation {
	width := uint(max(bits.Len64(uint64(max(n, 1)-1)), leastBits))
	p := Permutation{n: uint64(n), left: width / 2, right: width - width/2}
	for i := range p.keys {
		p.keys[i] = Key(seed, uint64(i))
	}
	return p
}

// Len returns n.
func (p *Permutation) Len() int64 { return int64(p.n) }

// At returns the number at place i; both are at least 0 and below n.
func (p *Permutation) At(i int64) int64 {
	x := uint64(i)
	for {
		l, r := x>>p.right, x&(1<<p.right-1)
		for round := 0; round < len(p.keys); round += 2 {
			l ^= mix(r^p.keys[round]) >> (64 - p.left)
			r ^= mix(l^p.keys[round+1]) >> (64 - p.right)
		}
		if x = l<<p.right | r; x < p.n {
			return int64(x)
		}
	}
}

// Find returns the place of a number: At of it is x, which is at least 0 and
// below n.
func (p *Permutation) Find(x int64) int64 {
	i := uint64(x)
	for {
		l, r := i>>p.right, i&(1<<p.right-1)
		for round := len(p.keys) - 2; round >= 0; round -= 2 {
			r ^= mix(l^p.keys[round+1]) >> (64 - p.right)
			l ^= mix(r^p.keys[round]) >> (64 - p.left)
		}
		if i = l<<p.right | r; i < p.n {
			return int64(i)
		}
	}
}
