package swar

import "math/bits"

// Common returns the length of the longest prefix that a and b share.
func Common[T string | []byte](a, b T) int {
	n, end := 0, min(len(a), len(b))
	for ; end-n >= 8; n += 8 {
		if d := word(a, n) ^ word(b, n); d != 0 {
			return n + bits.TrailingZeros64(d)/8
		}
	}
	for n < end && a[n] == b[n] {
		n++
	}
	return n
}

// word returns the eight bytes of s from n on, the first one lowest. The compiler makes one load of
// it, as it does of encoding/binary's for slices.
func word[T string | []byte](s T, n int) uint64 {
	s = s[n : n+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
