package png

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/tfrec/tfrec/internal/deflate"
)

// EncoderName names the bytes that Encoder makes. It changes with them.
const EncoderName = "png tfrec 1"

// Encoder writes one image at a time. Its zero value is ready, and its memory, 0.8 MB and four rows, is
// reused.
type Encoder struct {
	deflate deflate.Writer
	lines   [filters][]byte // a row after each filter but none
	zeros   []byte          // the row above the first
}

// Pixels are an image of 8 bits a sample.
type Pixels struct {
	Pix           []byte // row by row
	Width, Height int    // at least 1, at most 2^31-1
	Channels      int    // 1: gray, 3: red, green and blue
	Stride        int    // from the beginning of a row in Pix to the next one's
}

// Append appends the image to dst as a PNG, not interlaced. The bytes depend only on the pixels. An
// image that takes 2 GiB and more is an error, and dst is then what it was.
func (e *Encoder) Append(dst []byte, im Pixels) ([]byte, error) {
	header := [13]byte{8: 8} // bits a sample; 9: colour type; deflate, filters by row, not interlaced
	binary.BigEndian.PutUint32(header[0:], uint32(im.Width))
	binary.BigEndian.PutUint32(header[4:], uint32(im.Height))
	if im.Channels == 3 {
		header[9] = byte(RGB)
	}
	start := len(dst)
	dst = append(dst, Signature...)
	dst = append(beginChunk(dst, "IHDR"), header[:]...)
	dst = beginChunk(endChunk(dst, len(header)), "IDAT")
	at := len(dst)

	above := e.reserve(im.Width * im.Channels)
	e.deflate.Reset(dst)
	for y := range im.Height {
		row := im.Pix[y*im.Stride:][:im.Width*im.Channels]
		filter := e.choose(row, above, im.Channels)
		line := row
		if filter != none {
			line = e.lines[filter]
		}
		e.deflate.Write([]byte{filter})
		e.deflate.Write(line)
		above = row
	}
	dst = e.deflate.Close()

	n := len(dst) - at
	if int64(n) >= 1<<31 {
		return dst[:start], fmt.Errorf("%dx%d pixels take over 2 GiB", im.Width, im.Height)
	}
	dst = endChunk(dst, n)
	return endChunk(beginChunk(dst, "IEND"), 0), nil
}

// keptLine is the length of the longest rows whose memory is kept for other images, in bytes.
const keptLine = 1 << 20

// Release drops memory beyond that for usual images.
func (e *Encoder) Release() {
	if cap(e.zeros) > keptLine {
		e.lines, e.zeros = [filters][]byte{}, nil
	}
}

// reserve makes room for rows of n bytes and returns one of zeros.
func (e *Encoder) reserve(n int) []byte {
	for i := range e.lines {
		if i != none {
			e.lines[i] = slices.Grow(e.lines[i][:0], n)[:n]
		}
	}
	e.zeros = slices.Grow(e.zeros[:0], n)[:n]
	clear(e.zeros)
	return e.zeros
}

// choose returns the filter that suits a row, whose line it makes: by the rule of thumb of the
// standard, the one whose differences, taken as signed bytes, sum to the least.
func (e *Encoder) choose(row, above []byte, n int) byte {
	if bytes.Equal(row, above) { // most rows of a mask: no sum is less than 0
		if bytes.Equal(row, e.zeros) {
			return none
		}
		clear(e.lines[up])
		return up
	}
	sums := e.filter(row, above, n)
	best := byte(none)
	for i, sum := range sums {
		if sum < sums[best] {
			best = byte(i)
		}
	}
	return best
}

// beginChunk appends a chunk's length, to be set by endChunk, and its name.
func beginChunk(dst []byte, name string) []byte {
	return append(append(dst, 0, 0, 0, 0), name...)
}

// endChunk completes the chunk whose n bytes of data end dst.
func endChunk(dst []byte, n int) []byte {
	at := len(dst) - n - 8
	binary.BigEndian.PutUint32(dst[at:], uint32(n))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at+4:]))
}
