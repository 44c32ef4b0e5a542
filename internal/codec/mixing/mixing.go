// Package mixing blends the samples of two images, for package augment, which mixes stored images,
// and for package reader, which mixes batches.
package mixing

import "math"

// Bytes makes dst the sum of own times dst and other times src, rounded to the nearest level, halves
// to the even one. Both shares are 0 or more, and their sum is 1. src is at least as long as dst.
func Bytes(dst, src []uint8, own, other float32) {
	src = src[:len(dst)]
	for i, x := range dst {
		mixed := float32(own*float32(x)) + float32(other*float32(src[i]))
		dst[i] = uint8(math.Float32bits(mixed + 0x1p23)) // the addition rounds to an integer
	}
}
