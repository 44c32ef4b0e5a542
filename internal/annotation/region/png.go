package region

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// AppendPNG appends a mask of 0 and 1, of w x h pixels and at least one, to dst as a PNG of 8 bits a
// sample, grayscale. Its time is that of finding the runs of equal pixels and the rows that repeat:
// the bytes of the PNG depend on nothing else.
func AppendPNG(dst, mask []uint8, w, h int) []byte {
	header := [13]byte{8: 8} // bits a sample; 9: grayscale, deflate, filters by row, not interlaced
	binary.BigEndian.PutUint32(header[0:], uint32(w))
	binary.BigEndian.PutUint32(header[4:], uint32(h))
	dst = append(dst, "\x89PNG\r\n\x1a\n"...)
	dst = appendChunk(dst, "IHDR", func(dst []byte) []byte { return append(dst, header[:]...) })
	dst = appendChunk(dst, "IDAT", func(dst []byte) []byte { return appendZlib(dst, mask, w, h) })
	return appendChunk(dst, "IEND", func(dst []byte) []byte { return dst })
}

// appendChunk appends a chunk of a PNG, whose data is what data appends.
func appendChunk(dst []byte, name string, data func([]byte) []byte) []byte {
	at := len(dst)
	dst = data(append(append(dst, 0, 0, 0, 0), name...))
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-8))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at+4:]))
}

// appendZlib appends the rows of a mask, each after the number of filter 0, as a stream of zlib.
func appendZlib(dst, mask []uint8, w, h int) []byte {
	d := deflater{dst: append(dst, 0x78, 0x01)} // deflate in a window of 32 KB, and its checksum
	d.begin(w + 1)
	a, b := uint64(1), uint64(0) // Adler-32: the sum of all bytes, and that of these sums
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
