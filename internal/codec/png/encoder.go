package png

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/codec/deflate"
)

// EncoderName names the bytes that Encoder makes. It changes with them.
const EncoderName = "png tfrec 1"

// Encoder writes one image at a time. Its zero value is ready, and its memory, 1.1 MB and four rows, is
// reused.
type Encoder struct {
	deflate deflate.Writer
	lines   [filters][]byte // a row after each filter but none
	zeros   []byte          // the row above the first
}

// Pixels are an image of 8 or 16 bits a sample.
type Pixels struct {
	Pix           []byte // row by row; of 16 bits the upper byte comes first
	Width, Height int    // at least 1, at most 2^31-1
	Channels      int    // 1: gray, 3: red, green and blue
	Depth         int    // bits of a sample: 8 or 16
	Stride        int    // bytes from the beginning of a row in Pix to the next one's
}

// pixelBytes returns the size of a pixel.
func (im *Pixels) pixelBytes() int { return im.Channels * im.Depth / 8 }

// Append appends the image to dst as a PNG, not interlaced. The bytes depend only on the pixels. An
// image that takes 2 GiB and more is an error, and dst is then what it was.
func (e *Encoder) Append(dst []byte, im Pixels) ([]byte, error) {
	start := len(dst)
	dst = AppendHeader(dst, im.Width, im.Height, im.Channels, im.Depth)
	at := len(dst)
	dst = AppendChunk(dst, "IDAT", func(dst []byte) []byte {
		n := im.pixelBytes()
		above := e.reserve(im.Width * n)
		e.deflate.Reset(dst)
		for y := range im.Height {
			row := im.Pix[y*im.Stride:][:im.Width*n]
			filter := e.choose(row, above, n)
			line := row
			if filter != none {
				line = e.lines[filter]
			}
			e.deflate.Write([]byte{filter})
			e.deflate.Write(line)
			above = row
		}
		return e.deflate.Close()
	})
	if n := len(dst) - at - 12; int64(n) >= 1<<31 { // without its length, name and CRC
		return dst[:start], fmt.Errorf("%dx%d pixels take over 2 GiB", im.Width, im.Height)
	}
	return AppendEnd(dst), nil
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
