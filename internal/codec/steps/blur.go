package steps

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/exact"
)

// GaussianBlur weighs the pixels around each by a bell curve, as torchvision's gaussian_blur does:
// the curve is cut at the kernel's edge and its weights are scaled to a sum of 1. Beyond its edge
// the image is mirrored, without repeating the edge itself. (If a kernel reaches across the whole
// image, torchvision returns an error, and this step mirrors again and again.)
type GaussianBlur struct {
	// Kernel is the number of pixels that are weighed along x and along y, both odd, 1 to 255.
	Kernel [2]int `json:"kernel"`
	// Sigma is the curve's standard deviation along x and along y, in pixels,
	// 0.001 to 1000.
	Sigma [2]float64 `json:"sigma"`
}

func (s GaussianBlur) op() string { return "gaussian_blur" }

func (s GaussianBlur) size(w, h int) (int, int) { return w, h }

func (s GaussianBlur) validate() error {
	for i := range 2 {
		if n := s.Kernel[i]; n < 1 || n > 255 || n%2 == 0 {
			return fmt.Errorf("%s: a kernel of %d pixels: want an odd number of 1 to 255", s.op(), n)
		}
		if err := checkRange(s.op(), "sigma", s.Sigma[i], 0.001, 1000); err != nil {
			return err
		}
	}
	return nil
}

func (s GaussianBlur) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	m := &workspace.Of(scratch).Steps
	for i := range m.Weights {
		m.Weights[i] = AppendBell(m.Weights[i][:0], s.Kernel[i], s.Sigma[i])
	}
	b := blurBand{src: src, weights: m.Weights[0], length: src.Width * src.Channels, rows: min(s.Kernel[1], src.Height)}
	m.Bytes = bitmap.Room(m.Bytes, b.length+(s.Kernel[0]-1)*src.Channels)
	m.Columns = bitmap.Room(m.Columns, b.length*b.rows)
	m.Totals = bitmap.Room(m.Totals, b.length)
	b.padded, b.sums = m.Bytes, m.Columns
	reach := s.Kernel[1] / 2
	for y := range src.Height {
		for next := min(y+reach, src.Height-1); b.done <= next; b.done++ {
			b.blurRow(b.done)
		}
		b.blurColumns(dst.Row(y), y, m.Weights[1], m.Totals)
	}
	return nil
}

// bellBits is the number of fraction bits in a weight of a blur: with 8 bits of a sample a sum fits
// into 32 bits.
const bellBits = 24

// AppendBell appends the first half of the weights, including the middle one. All weights, with the
// first half mirrored, sum to 1<<bellBits.
func AppendBell(dst []uint32, size int, sigma float64) []uint32 {
	half := size / 2
	weigh := func(i int) float64 {
		at := float64(i-half) / sigma
		return exact.Exp(-float64(float64(at*at) / 2))
	}
	sum := 0.0
	for i := range size {
		sum += weigh(i)
	}
	middle := uint32(1 << bellBits)
	for i := range half {
		w := uint32(math.Round(float64(weigh(i)/sum) * (1 << bellBits)))
		dst = append(dst, w)
		middle -= 2 * w
	}
	return append(dst, middle)
}

// blurBand is the last rows that were blurred horizontally, in a ring.
type blurBand struct {
	src     *bitmap.Image
	weights []uint32
	length  int // samples of a row
	rows    int // in the ring
	done    int // rows blurred so far
	padded  []uint8
	sums    []uint32
}

// row is row y of the ring.
func (b *blurBand) row(y int) []uint32 {
	return b.sums[y%b.rows*b.length:][:b.length]
}

// blurRow blurs row y horizontally.
func (b *blurBand) blurRow(y int) {
	channels, half := b.src.Channels, len(b.weights)-1
	row := b.src.Row(y)
	copy(b.padded[half*channels:], row)
	for i := range half {
		bitmap.CopyPixel(b.padded[i*channels:], row[mirrored(i-half, b.src.Width)*channels:], channels)
		right := mirrored(b.src.Width+i, b.src.Width)
		bitmap.CopyPixel(b.padded[(half+b.src.Width+i)*channels:], row[right*channels:], channels)
	}
	sums := b.row(y)
	middle := b.padded[half*channels:][:len(sums)]
	for i, v := range middle {
		sums[i] = uint32(v) * b.weights[half]
	}
	n := len(sums)
	k := 0
	for ; k+1 < half; k += 2 { // two at a time, for fewer loads and stores
		w0, w1 := b.weights[k], b.weights[k+1]
		if w1 == 0 {
			continue // far out of a narrow curve
		}
		left0, left1 := b.padded[k*channels:][:n], b.padded[(k+1)*channels:][:n]
		right0, right1 := b.padded[(2*half-k)*channels:][:n], b.padded[(2*half-k-1)*channels:][:n]
		for i := range sums {
			sums[i] += (uint32(left0[i])+uint32(right0[i]))*w0 + (uint32(left1[i])+uint32(right1[i]))*w1
		}
	}
	if k < half {
		w := b.weights[k]
		left, right := b.padded[k*channels:][:n], b.padded[(2*half-k)*channels:][:n]
		for i := range sums {
			sums[i] += (uint32(left[i]) + uint32(right[i])) * w
		}
	}
}

// blurColumns makes row y of the result from the rows around it.
func (b *blurBand) blurColumns(dst []uint8, y int, weights []uint32, totals []uint64) {
	half, height := len(weights)-1, b.src.Height
	const round = 1 << (2*bellBits - 1)
	w := uint64(weights[half])
	for i, v := range b.row(y) {
		totals[i] = round + uint64(v)*w
	}
	n := len(totals)
	k := 0
	for ; k+1 < half; k += 2 {
		w0, w1 := uint64(weights[k]), uint64(weights[k+1])
		if w1 == 0 {
			continue
		}
		above0, above1 := b.row(mirrored(y-half+k, height))[:n], b.row(mirrored(y-half+k+1, height))[:n]
		below0, below1 := b.row(mirrored(y+half-k, height))[:n], b.row(mirrored(y+half-k-1, height))[:n]
		for i := range totals {
			totals[i] += (uint64(above0[i])+uint64(below0[i]))*w0 + (uint64(above1[i])+uint64(below1[i]))*w1
		}
	}
	if k < half {
		w := uint64(weights[k])
		above, below := b.row(mirrored(y-half+k, height))[:n], b.row(mirrored(y+half-k, height))[:n]
		for i := range totals {
			totals[i] += (uint64(above[i]) + uint64(below[i])) * w
		}
	}
	for i := range dst {
		dst[i] = uint8(totals[i] >> (2 * bellBits))
	}
}

// mirrored is the place from 0 to n-1 that a place outside shows: -1 shows 1,
// and n shows n-2.
func mirrored(at, n int) int {
	if uint(at) < uint(n) {
		return at
	}
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	at %= period
	if at < 0 {
		at += period
	}
	return min(at, period-at)
}
