package verify

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// nearHash is a 256-bit perceptual hash: the hashes of similar images differ in few bits. It
// follows PDQ (Facebook: The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing Algorithm,
// 2019): the luminance is resized to 64x64, and each of the 16x16 lowest frequencies of a discrete
// cosine transform, without the constant ones, gives a bit that is set if it is above the median.
// Unlike PDQ, the image is resized by averaging and the arithmetic is in integers, so the hashes
// are not comparable with PDQ's.
type nearHash struct {
	bits [4]uint64
	flat bool // too little detail to identify the image
}

// hashSide is the side length of the square of frequencies.
const hashSide = 16

// cosines returns the first rows of the transform, except row 0, scaled by 2¹⁴.
var cosines = sync.OnceValue(func() *[hashSide][ThumbSide]int32 {
	var m [hashSide][ThumbSide]int32
	for i := range m {
		for j := range m[i] {
			m[i][j] = int32(math.Round(math.Cos(math.Pi/2/ThumbSide*float64(i+1)*float64(2*j+1)) * (1 << 14)))
		}
	}
	return &m
})

// flatGradient is the quality, as measured by PDQ from 0 to 100, below which its authors advise
// against using hashes.
const flatGradient = 50

func hashThumb(thumb *Thumb) nearHash {
	m := cosines()
	var half [hashSide][ThumbSide]int32 // rows of frequencies, columns of pixels
	for i := range hashSide {
		for y := range ThumbSide {
			c := m[i][y]
			for x, v := range thumb[y*ThumbSide : (y+1)*ThumbSide] {
				half[i][x] += c * int32(v)
			}
		}
	}
	var all [hashSide * hashSide]int64
	for i := range hashSide {
		for j := range hashSide {
			var sum int64
			for x, v := range half[i] {
				sum += int64(v) * int64(m[j][x])
			}
			all[i*hashSide+j] = sum
		}
	}
	sorted := all
	slices.Sort(sorted[:])
	median := sorted[len(sorted)/2-1]
	h := nearHash{flat: gradient(thumb) < flatGradient}
	for i, v := range all {
		if v > median {
			h.bits[i/64] |= 1 << (i % 64)
		}
	}
	return h
}

// gradient is PDQ's measure of the detail in an image.
func gradient(thumb *Thumb) int {
	sum := 0
	step := func(a, b uint8) { sum += max(int(a)-int(b), int(b)-int(a)) * 100 / 255 }
	for y := range ThumbSide {
		for x := range ThumbSide {
			at := y*ThumbSide + x
			if x+1 < ThumbSide {
				step(thumb[at], thumb[at+1])
			}
			if y+1 < ThumbSide {
				step(thumb[at], thumb[at+ThumbSide])
			}
		}
	}
	return min(sum/90, 100)
}

// distance returns the number of bits in which two hashes differ.
func distance(a, b *[4]uint64) int {
	return bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) +
		bits.OnesCount64(a[2]^b[2]) + bits.OnesCount64(a[3]^b[3])
}
