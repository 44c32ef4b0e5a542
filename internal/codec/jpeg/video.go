package jpeg

import (
	"fmt"
	"image"
)

// VideoRows reads the planes of a lossy WebP as RGB, to the bits of libwebp: chroma of half the width
// and height is interpolated, and converted from luma of 16 to 235 and chroma of 16 to 240 (ITU-R
// BT.601).
type VideoRows struct {
	m      *image.YCbCr
	cb, cr []byte // a row
}

// NewVideoRows fails for chroma of another size.
func NewVideoRows(m *image.YCbCr) (*VideoRows, error) {
	if m.SubsampleRatio != image.YCbCrSubsampleRatio420 {
		return nil, fmt.Errorf("planes in the ratio %v", m.SubsampleRatio)
	}
	w := 2 * ceilDiv(m.Rect.Dx(), 2)
	return &VideoRows{m: m, cb: make([]byte, w), cr: make([]byte, w)}, nil
}

// RGB writes the pixels of row y to dst.
func (v *VideoRows) RGB(dst []byte, y int) {
	width, last := v.m.Rect.Dx(), ceilDiv(v.m.Rect.Dy(), 2)-1
	near := y / 2
	far := min(max(near-1+y%2*2, 0), last)
	w := len(v.cb) / 2
	for _, plane := range []struct{ out, from []byte }{{v.cb, v.m.Cb}, {v.cr, v.m.Cr}} {
		doubleVideoRow(plane.out, plane.from[near*v.m.CStride:][:w], plane.from[far*v.m.CStride:][:w])
	}
	convertVideoRow(dst, v.m.Y[y*v.m.YStride:][:width], v.cb, v.cr)
}

// doubleVideoRow makes the 2n samples of a row in between two of n (libwebp, dsp/upsampling.c): the
// first and the last from two samples each, all others from four.
func doubleVideoRow(dst, near, far []byte) {
	n := len(near)
	dst, far = dst[:2*n], far[:n]
	dst[0] = byte((3*int(near[0]) + int(far[0]) + 2) >> 2)
	dst[2*n-1] = byte((3*int(near[n-1]) + int(far[n-1]) + 2) >> 2)
	doubleVideo(dst[1:2*n-1], near, far)
}

// doubleVideoPlain makes the samples between each of near and the next. Both roundings are libwebp's.
func doubleVideoPlain(dst, near, far []byte) {
	far = far[:len(near)]
	for i := range len(near) - 1 {
		n0, n1, f0, f1 := int(near[i]), int(near[i+1]), int(far[i]), int(far[i+1])
		sum := n0 + n1 + f0 + f1 + 8
		dst[2*i] = byte(((sum+2*(n1+f0))>>3 + n0) >> 1)
		dst[2*i+1] = byte(((sum+2*(n0+f1))>>3 + n1) >> 1)
	}
}

// convertVideoRowPlain converts a row of full planes with 6 bits of fraction (libwebp, dsp/yuv.h).
func convertVideoRowPlain(dst, luma, cb, cr []byte) {
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	dst = dst[:3*len(luma)]
	for x := range luma {
		y, u, v := int32(luma[x])*19077>>8, int32(cb[x]), int32(cr[x])
		p := dst[3*x : 3*x+3 : 3*x+3]
		p[0] = clamp((y + v*26149>>8 - 14234) >> 6)
		p[1] = clamp((y - u*6419>>8 - v*13320>>8 + 8708) >> 6)
		p[2] = clamp((y + u*33050>>8 - 17685) >> 6)
	}
}
