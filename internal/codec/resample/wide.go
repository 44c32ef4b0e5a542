package resample

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// Bicubic and Lanczos3 overshoot between unlike neighbours. Pillow clips that to bytes between its
// two passes; TensorFlow, which works in floats, does not. So without antialias the rows between
// the passes have 16 bits.

// wideBits is the number of fraction bits in these rows. The absolute weights of a pixel sum to
// less than 2, so 255 times the sum still fits.
const wideBits = 6

// Wide reports whether the rows between the passes have 16 bits.
func (k Key) Wide() bool { return !k.Antialias && (k.Filter == Bicubic || k.Filter == Lanczos3) }

// wideBoth is both, with rows in 16 bits between the passes.
func (m *Memory) wideBoth(dst, src *bitmap.Image, across, down *Axis) {
	length := dst.Width * dst.Channels
	b := band[int16]{rows: m.Wide, length: length}
	b.reserve(down)
	m.Wide = b.rows
	for y := range dst.Height {
		first, weights := down.of(y)
		if at, n := b.missing(first, len(weights)); n > 0 {
			room := b.room(n)
			for i := range n {
				across.weighRowWide(room[i*length:][:length], src.Row(at+i), src.Channels)
			}
		}
		weighRowsWide(dst.Row(y), b.from(first), length, weights)
	}
}

// weighRowWide makes one row of 16 bits from one of the source.
func (a *Axis) weighRowWide(dst []int16, src []uint8, channels int) {
	const drop = precision - wideBits
	for i := range len(a.First) {
		first, weights := a.of(i)
		for c := range channels {
			sum := int32(1 << (drop - 1))
			at := first*channels + c
			for _, w := range weights {
				sum += int32(src[at]) * w
				at += channels
			}
			dst[i*channels+c] = int16(sum >> drop)
		}
	}
}

// weighRowsWide makes one row of the result from len(weights) rows of 16 bits
// that begin stride apart in src.
func weighRowsWide(dst []uint8, src []int16, stride int, weights []int32) {
	const drop = precision + wideBits
	for x := range dst {
		sum := int64(1 << (drop - 1))
		at := x
		for _, w := range weights {
			sum += int64(src[at]) * int64(w)
			at += stride
		}
		dst[x] = uint8(min(max(sum>>drop, 0), 255))
	}
}
