package jpeg

import (
	"slices"
	"sync"
)

// upsampler reads a plane row by row, each sample enlarged to fx by fy pixels.
type upsampler struct {
	plane  []byte
	stride int
	w, h   int // of the plane
	fx, fy int
	smooth bool
	buf    []byte
	sums   []int16 // of rows of both planes of chroma
}

// upsamplers pools the upsamplers of chroma planes for their memory.
var upsamplers = sync.Pool{New: func() any { return new([2]upsampler) }}

// reset sets the plane, of w by h samples with rows stride bytes apart, and how much it is
// enlarged. With smooth, samples are interpolated by libjpeg's triangle filter where it has one
// (jdsample.c): for twice the height, and for twice the width of more than two samples, with or
// without twice the height. Otherwise they are repeated.
func (e *upsampler) reset(plane []byte, stride, w, h, fx, fy int, smooth bool) {
	e.plane, e.stride, e.w, e.h, e.fx, e.fy = plane, stride, w, h, fx, fy
	e.smooth = smooth && (fx == 1 && fy == 2 || fx == 2 && fy <= 2 && w > 2)
	if fx*fy > 1 {
		e.buf = slices.Grow(e.buf[:0], w*fx)[:w*fx]
	}
}

// rows returns the two rows of the plane that determine row y of the enlarged plane. They are the
// same row unless y falls between two rows.
func (e *upsampler) rows(y int) (near, far []byte) {
	cy := y / e.fy
	other := cy
	if e.smooth && e.fy == 2 {
		other = max(cy-1, 0)
		if y&1 > 0 {
			other = min(cy+1, e.h-1)
		}
	}
	return e.plane[cy*e.stride:][:e.w], e.plane[other*e.stride:][:e.w]
}

// row returns row y of the enlarged plane: w*fx samples, valid until the next call.
func (e *upsampler) row(y int) []byte {
	near, far := e.rows(y)
	switch {
	case e.fx*e.fy == 1:
		return near
	case e.smooth && e.fx == 2 && e.fy == 2:
		doubleBoth(e.buf, near, far)
	case e.smooth && e.fx == 2:
		doubleAcross(e.buf, near)
	case e.smooth:
		doubleDown(e.buf, near, far, 1+y&1)
	case e.fx == 1:
		return near
	default:
		repeat(e.buf, near, e.fx)
	}
	return e.buf
}

// repeat writes each sample n times.
func repeat(dst, src []byte, n int) {
	for x, v := range src {
		out := dst[x*n:][:n]
		for i := range out {
			out[i] = v
		}
	}
}

// doubleAcrossPlain doubles the width of two samples or more: three parts of the nearer sample
// and one of the other.
func doubleAcrossPlain(dst, src []byte) {
	last := len(src) - 1
	for i, v := range src {
		before, after := src[max(i-1, 0)], src[min(i+1, last)]
		dst[2*i] = byte((3*int(v) + int(before) + 1) >> 2)
		dst[2*i+1] = byte((3*int(v) + int(after) + 2) >> 2)
	}
}

// doubleDownPlain makes a row in between two. The bias, 1 for the upper row and 2 for the lower
// one, makes halves go either way.
func doubleDownPlain(dst, near, far []byte, bias int) {
	far, dst = far[:len(near)], dst[:len(near)]
	for x, v := range near {
		dst[x] = byte((3*int(v) + int(far[x]) + bias) >> 2)
	}
}

// doubleBothPlain doubles the width of a row in between two.
func doubleBothPlain(dst, near, far []byte) {
	far, dst = far[:len(near)], dst[:2*len(near)]
	here := 3*int(near[0]) + int(far[0])
	before := here
	for i := range near {
		after := here
		if i+1 < len(near) {
			after = 3*int(near[i+1]) + int(far[i+1])
		}
		dst[2*i] = byte((3*here + before + 8) >> 4)
		dst[2*i+1] = byte((3*here + after + 7) >> 4)
		before, here = here, after
	}
}
