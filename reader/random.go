package reader

import "math/bits"

// What randomness is for: each purpose has a stream of its own, so that no two
// of them go together.
const (
	forFiles uint64 = iota + 1
	forShuffle
	forOrder
	forWindow
)

// mix is the output function of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014), with Stafford's constants (variant 13).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// golden is the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// key hashes numbers to one.
func key(words ...uint64) uint64 {
	h := uint64(golden)
	for _, w := range words {
		h = mix(h+golden) ^ mix(w+golden)
		h = mix(h)
	}
	return h
}

// draws is a sequence of random numbers, each of which can be had without those
// before: a place in it needs no memory.
type draws uint64

// below returns number i of the sequence, at least 0 and below n.
func (d draws) below(i int64, n int) int {
	hi, _ := bits.Mul64(mix(uint64(d)+golden*uint64(i+1)), uint64(n))
	return int(hi)
}

// permute puts s into a random order (Fisher and Yates).
func permute[T any](s []T, d draws) {
	for i := len(s) - 1; i > 0; i-- {
		j := d.below(int64(i), i+1)
		s[i], s[j] = s[j], s[i]
	}
}

// permutation is a seeded order of the numbers below n which needs no list: a
// Feistel network over the next power of two, walked along its cycles until it
// falls below n (Black and Rogaway: Ciphers with Arbitrary Finite Domains,
// 2002).
type permutation struct {
	n           uint64
	left, right uint // bits of the halves
	keys        [8]uint64
}

// leastBits makes small permutations walk over a larger domain, for there are
// few networks of a few bits.
const leastBits = 8

func newPermutation(n int64, seed uint64) permutation {
	width := uint(max(bits.Len64(uint64(max(n, 1)-1)), leastBits))
	p := permutation{n: uint64(n), left: width / 2, right: width - width/2}
	for i := range p.keys {
		p.keys[i] = key(seed, uint64(i))
	}
	return p
}

// at returns the number at place i; both are at least 0 and below n.
func (p *permutation) at(i int64) int64 {
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
