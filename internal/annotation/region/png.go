package region

import (
	"bytes"
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/codec/png"
)

// AppendPNG appends a mask of 0 and 1, of w x h pixels and at least one, to dst as a PNG of 8 bits
// a sample, grayscale. It only searches for runs of equal pixels and repeated rows, which determine
// the bytes of the PNG.
func AppendPNG(dst, mask []uint8, w, h int) []byte {
	dst = png.AppendHeader(dst, w, h, 1, 8)
	dst = png.AppendChunk(dst, "IDAT", func(dst []byte) []byte { return appendZlib(dst, mask, w, h) })
	return png.AppendEnd(dst)
}

// appendZlib appends the rows of a mask, each after the number of filter 0, as a stream of zlib.
func appendZlib(dst, mask []uint8, w, h int) []byte {
	d := deflater{dst: append(dst, 0x78, 0x01)} // deflate in a window of 32 KB, and its checksum
	d.begin(w + 1)
	a, b := uint64(1), uint64(0) // Adler-32: the sum of all bytes, and the sum of these sums
	var sum, sums uint64         // of a row
	var above []uint8
	for y := range h {
		row := mask[y*w : (y+1)*w]
		if d.repeats && bytes.Equal(row, above) {
			d.add(rows, w+1)
		} else {
			sum, sums = 0, 0
			d.add(zeros, 1)
			for x := 0; x < w; {
				n := firstInside(row[x:])
				d.add(zeros, n)
				if x += n; x == w {
					break
				}
				if n = bytes.IndexByte(row[x:], 0); n < 0 {
					n = w - x
				}
				d.add(ones, n)
				sum += uint64(n)
				sums += uint64(n) * uint64(2*(w-x)-n+1) / 2
				x += n
			}
			above = row
		}
		const modulus = 65521
		b = (b + uint64(w+1)*a + sums) % modulus
		a = (a + sum) % modulus
	}
	return binary.BigEndian.AppendUint32(d.end(), uint32(b<<16|a))
}
