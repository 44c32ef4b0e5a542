package warp

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
)

// Matrix maps a place in the result to a place in the source, both in pixels from the top left
// corner:
//
//	x' = m[0]*x + m[1]*y + m[2]
//	y' = m[3]*x + m[4]*y + m[5]
type Matrix [6]float64

// At maps a place in the result to the source.
func (m *Matrix) At(x, y float64) (float64, float64) {
	return float64(m[0]*x) + float64(m[1]*y) + m[2], float64(m[3]*x) + float64(m[4]*y) + m[5]
}

// CheckTransformFilter returns an error for filters that weigh areas.
func CheckTransformFilter(op string, f resample.Filter) error {
	if f == resample.Nearest || f == resample.Bilinear || f == resample.Bicubic {
		return nil
	}
	return fmt.Errorf("%s: filter %v: want nearest, bilinear or bicubic", op, f)
}

// Apply computes dst, whose size is set, with the arithmetic of Pillow 13's
// Image.transform (src/libImaging/Geometry.c), so that the bytes are the same.
// A pixel whose centre comes from outside the source gets the fill colour.
func Apply(dst, src *bitmap.Image, m *Matrix, f resample.Filter, color [3]uint8, at *[]int32) {
	bitmap.Fill(dst.Pix, recolor.Shade(&color, dst.Channels))
	switch {
	case f == resample.Bilinear:
		transformBilinear(dst, src, m)
	case f == resample.Bicubic:
		transformBicubic(dst, src, m)
	case m[1] == 0 && m[3] == 0:
		transformScale(dst, src, m, at)
	case m.Fixed(dst.Width, dst.Height):
		transformFixed(dst, src, m)
	default:
		transformNearest(dst, src, m)
	}
}

// Inside reports whether a place is in an image. NaN is not.
func Inside(at float64, size int) bool { return at >= 0 && at < float64(size) }

// transformScale takes the nearest pixels where rows stay rows and columns columns. Places are
// summed up step by step, because Pillow's are. columns is memory for the places in a row.
func transformScale(dst, src *bitmap.Image, m *Matrix, columns *[]int32) {
	*columns = bitmap.Room(*columns, dst.Width)
	from := *columns
	first, end := dst.Width, 0
	at := m[2] + float64(m[0]*0.5)
	for x := range from {
		if Inside(at, src.Width) {
			first, end = min(first, x), x+1
			from[x] = int32(at)
		}
		at += m[0]
	}
	at = m[5] + float64(m[4]*0.5)
	for y := range dst.Height {
		if Inside(at, src.Height) {
			row, to := src.Row(int(at)), dst.Row(y)
			for x := first; x < end; x++ {
				bitmap.CopyPixel(to[x*dst.Channels:], row[int(from[x])*src.Channels:], src.Channels)
			}
		}
		at += m[4]
	}
}

// Fixed reports whether the integer parts of all places fit into 16 bits.
func (m *Matrix) Fixed(w, h int) bool {
	const most = 32768
	for _, corner := range [4][2]int{{0, 0}, {w, h}, {0, h}, {w, 0}} {
		x, y := m.At(float64(corner[0]), float64(corner[1]))
		if !(math.Abs(x) < most && math.Abs(y) < most) {
			return false
		}
	}
	return true
}

// FixedSteps is the matrix in 16 bits of fraction: along a row, down a column and the
// first centre, for x and then for y.
func (m *Matrix) FixedSteps() [6]int {
	fix := func(v float64) int { return int(math.Floor(float64(v*65536) + 0.5)) }
	center := func(a, b, c float64) int { return fix(c + float64(a*0.5) + float64(b*0.5)) }
	return [6]int{
		fix(m[0]), fix(m[1]), center(m[0], m[1], m[2]),
		fix(m[3]), fix(m[4]), center(m[3], m[4], m[5]),
	}
}

// transformFixed takes the nearest pixels, with places in 16 bits of fraction.
func transformFixed(dst, src *bitmap.Image, m *Matrix) {
	steps := m.FixedSteps()
	right, down, x0 := steps[0], steps[1], steps[2]
	rightY, downY, y0 := steps[3], steps[4], steps[5]
	w, h := uint(src.Width), uint(src.Height)
	for y := range dst.Height {
		to := dst.Row(y)
		x, y := x0, y0
		if dst.Channels == 1 {
			for i := range to {
				if uint(x>>16) < w && uint(y>>16) < h {
					to[i] = src.Pix[(y>>16)*src.Stride+x>>16]
				}
				x += right
				y += rightY
			}
		} else {
			for ; len(to) >= 3; to = to[3:] {
				if uint(x>>16) < w && uint(y>>16) < h {
					from := src.Pix[(y>>16)*src.Stride+3*(x>>16):][:3]
					to[0], to[1], to[2] = from[0], from[1], from[2]
				}
				x += right
				y += rightY
			}
		}
		x0 += down
		y0 += downY
	}
}

// transformNearest takes the nearest pixels where places don't fit into 16 bits.
func transformNearest(dst, src *bitmap.Image, m *Matrix) {
	x0 := m[2] + float64(m[1]*0.5) + float64(m[0]*0.5)
	y0 := m[5] + float64(m[4]*0.5) + float64(m[3]*0.5)
	for y := range dst.Height {
		to := dst.Row(y)
		atX, atY := x0, y0
		for x := range dst.Width {
			if Inside(atX, src.Width) && Inside(atY, src.Height) {
				bitmap.CopyPixel(to[x*dst.Channels:], src.Row(int(atY))[int(atX)*src.Channels:], src.Channels)
			}
			atX += m[0]
			atY += m[3]
		}
		x0 += m[1]
		y0 += m[4]
	}
}

// floor splits a place that isn't below -1 into the pixel before it and the
// distance from that.
func floor(at float64) (int, float64) {
	n := int(at+1) - 1
	return n, at - float64(n)
}

// transformBilinear takes bilinear samples.
func transformBilinear(dst, src *bitmap.Image, m *Matrix) {
	for y := range dst.Height {
		to := dst.Row(y)
		alongX, alongY := float64(m[1]*(float64(y)+0.5)), float64(m[4]*(float64(y)+0.5))
		for x := range dst.Width {
			center := float64(x) + 0.5
			atX, atY := float64(m[0]*center)+alongX+m[2], float64(m[3]*center)+alongY+m[5]
			if Inside(atX, src.Width) && Inside(atY, src.Height) {
				BilinearAt(to[x*src.Channels:], src, atX, atY)
			}
		}
	}
}

// BilinearAt weighs the four pixels around a place in the image and cuts the
// fraction off.
func BilinearAt(to []uint8, src *bitmap.Image, atX, atY float64) {
	left, dx := floor(atX - 0.5)
	top, dy := floor(atY - 0.5)
	above, below := src.Pix[max(top, 0)*src.Stride:], src.Pix[min(top+1, src.Height-1)*src.Stride:]
	i, j := max(left, 0)*src.Channels, min(left+1, src.Width-1)*src.Channels
	if src.Channels == 1 {
		to[0] = between(above[i], above[j], below[i], below[j], dx, dy)
		return
	}
	a, b, c, d := above[i:i+3], above[j:j+3], below[i:i+3], below[j:j+3]
	out := to[:3]
	out[0] = between(a[0], b[0], c[0], d[0], dx, dy)
	out[1] = between(a[1], b[1], c[1], d[1], dx, dy)
	out[2] = between(a[2], b[2], c[2], d[2], dx, dy)
}

// between interpolates between a and b above, and c and d below.
func between(a, b, c, d uint8, dx, dy float64) uint8 {
	above := float64(a) + float64(float64(int(b)-int(a))*dx)
	below := float64(c) + float64(float64(int(d)-int(c))*dx)
	return uint8(int32(above + float64((below-above)*dy)))
}

// transformBicubic takes bicubic samples.
func transformBicubic(dst, src *bitmap.Image, m *Matrix) {
	for y := range dst.Height {
		to := dst.Row(y)
		alongX, alongY := float64(m[1]*(float64(y)+0.5)), float64(m[4]*(float64(y)+0.5))
		for x := range dst.Width {
			center := float64(x) + 0.5
			atX, atY := float64(m[0]*center)+alongX+m[2], float64(m[3]*center)+alongY+m[5]
			if Inside(atX, src.Width) && Inside(atY, src.Height) {
				BicubicAt(to[x*src.Channels:], src, atX, atY)
			}
		}
	}
}

// BicubicAt weighs the sixteen pixels around a place in the image by the cubic
// with a = -1 (not the -0.5 of [resample.Bicubic] in [fit.Resize]), which is Pillow's for
// transforms, and cuts the fraction off.
func BicubicAt(to []uint8, src *bitmap.Image, atX, atY float64) {
	channels, right, bottom := src.Channels, src.Width-1, src.Height-1
	left, dx := floor(atX - 0.5)
	top, dy := floor(atY - 0.5)
	var column [4]int
	for i := range column {
		column[i] = min(max(left-1+i, 0), right) * channels
	}
	var red, green, blue [4]float64 // red alone in grayscale
	for i := range 4 {
		row := src.Pix[min(max(top-1+i, 0), bottom)*src.Stride:]
		if channels == 1 {
			red[i] = cubicBytes(row[column[0]], row[column[1]], row[column[2]], row[column[3]], dx)
			continue
		}
		a, b := (*[3]uint8)(row[column[0]:]), (*[3]uint8)(row[column[1]:])
		c, d := (*[3]uint8)(row[column[2]:]), (*[3]uint8)(row[column[3]:])
		red[i] = cubicBytes(a[0], b[0], c[0], d[0], dx)
		green[i] = cubicBytes(a[1], b[1], c[1], d[1], dx)
		blue[i] = cubicBytes(a[2], b[2], c[2], d[2], dx)
	}
	if channels == 1 {
		to[0] = cubicColumn(&red, dy)
		return
	}
	out := (*[3]uint8)(to)
	out[0], out[1], out[2] = cubicColumn(&red, dy), cubicColumn(&green, dy), cubicColumn(&blue, dy)
}

// cubicBytes is cubicBetween for samples.
func cubicBytes(a, b, c, d uint8, at float64) float64 {
	return cubicBetween(float64(a), float64(b), float64(c), float64(d), at)
}

// cubicColumn is cubicBetween as a sample, clipped and its fraction cut off.
func cubicColumn(v *[4]float64, at float64) uint8 {
	return uint8(min(max(int32(cubicBetween(v[0], v[1], v[2], v[3], at)), 0), 255))
}

// cubicBetween is the cubic through b and c with the slopes of Keys' kernel for
// a = -1, at a distance from b.
func cubicBetween(a, b, c, d, at float64) float64 {
	p2 := c - a
	p3 := float64(2*(a-b)) + c - d
	p4 := b - a - c + d
	return b + float64(at*(p2+float64(at*(p3+float64(at*p4)))))
}

// MoveBox returns the box around what becomes of the box's corners, in the result.
func (m *Matrix) MoveBox(b bitmap.Box) bitmap.Box {
	det := float64(m[0]*m[4]) - float64(m[1]*m[3])
	back := Matrix{m[4] / det, -m[1] / det, 0, -m[3] / det, m[0] / det, 0}
	points := bitmap.Corners(b)
	for i, p := range points {
		points[i][0], points[i][1] = back.At(p[0]-m[2], p[1]-m[5])
	}
	return bitmap.Around(points)
}
