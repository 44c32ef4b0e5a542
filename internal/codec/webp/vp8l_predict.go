package webp

import "encoding/binary"

// Pixels are words here: four channels of a byte.

func pixel(p []byte) uint32       { return binary.LittleEndian.Uint32(p) }
func putPixel(p []byte, v uint32) { binary.LittleEndian.PutUint32(p, v) }

// addPixels adds each channel, without carry into the next.
func addPixels(a, b uint32) uint32 {
	const even = 0x00FF00FF
	return (a&even+b&even)&even | (a&^even+b&^even)&^even
}

// average is the mean of each channel, rounded down.
func average(a, b uint32) uint32 { return a&b + (a^b)&0xFEFEFEFE>>1 }

// black is opaque black.
const black = 0xFF000000

// invertFirstRow inverts the prediction of the first row: from the left.
func invertFirstRow(row []byte) {
	left := uint32(black)
	for ; len(row) >= 4; row = row[4:] {
		left = addPixels(pixel(row), left)
		putPixel(row, left)
	}
}

// invertPredictors inverts the prediction of row y: rows are the one above and itself. The first
// pixel is predicted from above.
func invertPredictors(t *transform, rows []byte, y int) {
	w := len(rows) / 8
	cur := rows[4*w:]
	putPixel(cur, addPixels(pixel(cur), pixel(rows)))
	at := 4*(y>>t.bits)*tiles(t.width, t.bits) + 1
	for x := 1; x < w; at += 4 {
		end := min(w, (x>>t.bits+1)<<t.bits)
		// The pixels, with one to the left, and those above, with one to each side. To the right of
		// the last one above is the first one of the row.
		invertRun(t.tiles[at]&15, rows[4*(w+x-1):4*(w+end)], rows[4*(x-1):4*(end+1)])
		x = end
	}
}

// invertRun inverts a predictor over a run of pixels, which follow the one to the left of them.
// Above, too, has one more to the left, and one to the right.
func invertRun(mode uint8, run, above []byte) {
	left := pixel(run)
	run = run[4:]
	above = above[:len(run)+8]
	switch mode {
	case 0:
		for p := 0; p+4 <= len(run); p += 4 {
			putPixel(run[p:], addPixels(pixel(run[p:]), black))
		}
	case 1:
		for p := 0; p+4 <= len(run); p += 4 {
			left = addPixels(pixel(run[p:]), left)
			putPixel(run[p:], left)
		}
	case 2, 3, 4: // one pixel above
		from := above[4*[...]int{1, 2, 0}[mode-2]:]
		for p := 0; p+4 <= len(run); p += 4 {
			putPixel(run[p:], addPixels(pixel(run[p:]), pixel(from[p:])))
		}
	case 5:
		for p := 0; p+4 <= len(run); p += 4 {
			left = addPixels(pixel(run[p:]), average(average(left, pixel(above[p+8:])), pixel(above[p+4:])))
			putPixel(run[p:], left)
		}
	case 6, 7: // the mean of that to the left and one above
		from := above[4*(mode-6):]
		for p := 0; p+4 <= len(run); p += 4 {
			left = addPixels(pixel(run[p:]), average(left, pixel(from[p:])))
			putPixel(run[p:], left)
		}
	case 8, 9: // the mean of two above
		from := above[4*(mode-8):]
		for p := 0; p+4 <= len(run); p += 4 {
			putPixel(run[p:], addPixels(pixel(run[p:]), average(pixel(from[p:]), pixel(from[p+4:]))))
		}
	case 10:
		for p := 0; p+4 <= len(run); p += 4 {
			a := average(pixel(above[p+4:]), pixel(above[p+8:]))
			left = addPixels(pixel(run[p:]), average(average(left, pixel(above[p:])), a))
			putPixel(run[p:], left)
		}
	case 11:
		invertSelect(run, left, above)
	case 12:
		invertGradient(run, left, above)
	case 13:
		invertHalf(run, left, above)
	}
}

// invertSelectPlain inverts the prediction by selectPixel.
func invertSelectPlain(run []byte, left uint32, above []byte) {
	for p := 0; p+4 <= len(run); p += 4 {
		left = addPixels(pixel(run[p:]), selectPixel(left, pixel(above[p+4:]), pixel(above[p:])))
		putPixel(run[p:], left)
	}
}

// invertGradientPlain inverts the prediction by gradient.
func invertGradientPlain(run []byte, left uint32, above []byte) {
	for p := 0; p+4 <= len(run); p += 4 {
		left = addPixels(pixel(run[p:]), gradient(left, pixel(above[p+4:]), pixel(above[p:])))
		putPixel(run[p:], left)
	}
}

// invertHalfPlain inverts the prediction by halfGradient.
func invertHalfPlain(run []byte, left uint32, above []byte) {
	for p := 0; p+4 <= len(run); p += 4 {
		left = addPixels(pixel(run[p:]), halfGradient(average(left, pixel(above[p+4:])), pixel(above[p:])))
		putPixel(run[p:], left)
	}
}

// distanceOf is the sum of the differences of the channels.
func distanceOf(a, b uint32) (sum int32) {
	for range 4 {
		d := int32(a&0xFF) - int32(b&0xFF)
		sum += max(d, -d)
		a, b = a>>8, b>>8
	}
	return sum
}

// selectPixel returns left or top, whichever is nearer to the prediction by their gradient.
func selectPixel(left, top, corner uint32) uint32 {
	if distanceOf(corner, top) < distanceOf(corner, left) {
		return left
	}
	return top
}

// gradient is left + top - corner, within the range of each channel.
func gradient(left, top, corner uint32) uint32 {
	v := uint32(0)
	for shift := 0; shift < 32; shift += 8 {
		c := int32(left>>shift&0xFF) + int32(top>>shift&0xFF) - int32(corner>>shift&0xFF)
		v |= uint32(clip(c)) << shift
	}
	return v
}

// halfGradient is mean + (mean - corner) / 2, rounded toward mean, within the range of each channel.
func halfGradient(mean, corner uint32) uint32 {
	v := uint32(0)
	for shift := 0; shift < 32; shift += 8 {
		m := int32(mean >> shift & 0xFF)
		v |= uint32(clip(m+(m-int32(corner>>shift&0xFF))/2)) << shift
	}
	return v
}
