package jpeg

import (
	"fmt"
	"image"
)

// Tables of the conversion from YCbCr (JFIF, ITU-R BT.601 over the full range), in 16 bits of
// fraction, rounded as libjpeg rounds (jdcolor.c), so that pixels agree between backends.
var (
	crToR, cbToB, crToG, cbToG [256]int32
)

func init() {
	for i := range 256 {
		x := int32(i) - 128
		crToR[i] = (91881*x + 1<<15) >> 16
		cbToB[i] = (116130*x + 1<<15) >> 16
		crToG[i] = -46802 * x
		cbToG[i] = -22554*x + 1<<15
	}
}

// clamp brings v to the range of a byte.
func clamp(v int32) byte {
	if uint32(v) > 255 {
		return byte(^(v >> 31))
	}
	return byte(v)
}

// FromYCbCr writes a planar picture as RGB, rows stride bytes apart. It fails for ratios that
// image.YCbCr does not name.
func FromYCbCr(dst []byte, stride int, m *image.YCbCr) error {
	u, err := NewUpsampler(m)
	if err != nil {
		return err
	}
	for y := range m.Rect.Dy() {
		luma, cb, cr := u.Row(y)
		convertRow(dst[y*stride:][:3*len(luma)], luma, cb, cr)
	}
	return nil
}

// convertRow converts a row of full planes.
func convertRow(dst, luma, cb, cr []byte) {
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	dst = dst[:3*len(luma)]
	for x, v := range luma {
		y, u, w := int32(v), cb[x], cr[x]
		p := dst[3*x : 3*x+3 : 3*x+3]
		p[0] = clamp(y + crToR[w])
		p[1] = clamp(y + (cbToG[u]+crToG[w])>>16)
		p[2] = clamp(y + cbToB[u])
	}
}

// Upsampler reads a planar picture row by row, the chroma enlarged to the size of the luma:
// planes of half the width, height or both are interpolated by libjpeg's triangle filter
// (jdsample.c), others are repeated.
type Upsampler struct {
	m      *image.YCbCr
	fx, fy int // how much smaller the chroma planes are
	w, h   int // their size
	smooth bool
	cb, cr []byte
	sums   []int32
}

// NewUpsampler fails for ratios that image.YCbCr does not name.
func NewUpsampler(m *image.YCbCr) (*Upsampler, error) {
	u := &Upsampler{m: m, fx: 1, fy: 1}
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		u.fx = 2
	case image.YCbCrSubsampleRatio420:
		u.fx, u.fy = 2, 2
	case image.YCbCrSubsampleRatio440:
		u.fy = 2
	case image.YCbCrSubsampleRatio411:
		u.fx = 4
	case image.YCbCrSubsampleRatio410:
		u.fx, u.fy = 4, 2
	default:
		return nil, fmt.Errorf("planes in the ratio %v", m.SubsampleRatio)
	}
	u.w, u.h = ceilDiv(m.Rect.Dx(), u.fx), ceilDiv(m.Rect.Dy(), u.fy)
	u.smooth = u.fx == 1 && u.fy == 2 || u.fx == 2 && u.w > 2
	if u.fx*u.fy > 1 {
		u.cb, u.cr = make([]byte, u.w*u.fx), make([]byte, u.w*u.fx)
	}
	return u, nil
}

// Row gives row y of the three planes, valid until the next call.
func (u *Upsampler) Row(y int) (luma, cb, cr []byte) {
	w := u.m.Rect.Dx()
	luma = u.m.Y[y*u.m.YStride:][:w]
	return luma, u.chroma(u.cb, u.m.Cb, y)[:w], u.chroma(u.cr, u.m.Cr, y)[:w]
}

// chroma gives row y of the enlarged plane, in buf or, when nothing is to be done, in place.
func (u *Upsampler) chroma(buf, plane []byte, y int) []byte {
	stride, cy := u.m.CStride, y/u.fy
	near := plane[cy*stride:][:u.w]
	if u.fx*u.fy == 1 {
		return near
	}
	far := near
	if u.fy == 2 && u.smooth {
		if y&1 == 0 {
			far = plane[max(cy-1, 0)*stride:][:u.w]
		} else {
			far = plane[min(cy+1, u.h-1)*stride:][:u.w]
		}
	}
	switch {
	case u.smooth && u.fx == 2 && u.fy == 2:
		u.both(buf, near, far)
	case u.smooth && u.fx == 2:
		across(buf, near)
	case u.smooth:
		bias := 1 + y&1
		for x := range u.w {
			buf[x] = byte((3*int(near[x]) + int(far[x]) + bias) >> 2)
		}
	default:
		for x := range buf {
			buf[x] = near[x/u.fx]
		}
	}
	return buf
}

// across doubles the width: three parts of the nearer sample and one of the other.
func across(dst, c []byte) {
	last := len(c) - 1
	for i, v := range c {
		before, after := c[max(i-1, 0)], c[min(i+1, last)]
		dst[2*i] = byte((3*int(v) + int(before) + 1) >> 2)
		dst[2*i+1] = byte((3*int(v) + int(after) + 2) >> 2)
	}
}

// both doubles the width of a row in between two.
func (u *Upsampler) both(dst, near, far []byte) {
	if cap(u.sums) < len(near) {
		u.sums = make([]int32, len(near))
	}
	sums := u.sums[:len(near)]
	for i := range sums {
		sums[i] = 3*int32(near[i]) + int32(far[i])
	}
	before := sums[0]
	for i, v := range sums {
		after := v
		if i+1 < len(sums) {
			after = sums[i+1]
		}
		d := dst[2*i : 2*i+2 : 2*i+2]
		d[0] = byte((3*v + before + 8) >> 4)
		d[1] = byte((3*v + after + 7) >> 4)
		before = v
	}
}
