package augment

import (
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"
)

// pngLevel makes photographs a tenth larger than zlib's default does, and
// encodes several times as fast.
const pngLevel = zlib.BestSpeed

// pngEncoder is the memory of one encoding, reused.
type pngEncoder struct {
	zlib  *zlib.Writer
	lines [pngFilters][]uint8 // a row after each filter, after the filter's number
	none  []uint8             // the row above the first
	out   appender
}

var pngEncoders = sync.Pool{New: func() any {
	e := new(pngEncoder)
	e.zlib, _ = zlib.NewWriterLevel(io.Discard, pngLevel) // the level is a constant that it knows
	return e
}}

// AppendPNG appends the image to dst as a PNG of 8 bits a sample, grayscale or RGB, not interlaced.
// The bytes depend only on the pixels and on Go's version.
func AppendPNG(dst []byte, im *Image) ([]byte, error) {
	if err := im.check(); err != nil {
		return dst, fmt.Errorf("encode as PNG: %w", err)
	}
	e := pngEncoders.Get().(*pngEncoder)
	defer pngEncoders.Put(e)
	return e.encode(dst, im)
}

func (e *pngEncoder) encode(dst []byte, im *Image) ([]byte, error) {
	header := [13]byte{8: 8} // bits a sample; 9: colour type; deflate, filters by row, not interlaced
	binary.BigEndian.PutUint32(header[0:], uint32(im.Width))
	binary.BigEndian.PutUint32(header[4:], uint32(im.Height))
	if im.Channels == 3 {
		header[9] = 2
	}
	start := len(dst)
	dst = append(dst, "\x89PNG\r\n\x1a\n"...)
	dst = append(beginChunk(dst, "IHDR"), header[:]...)
	dst = beginChunk(endChunk(dst, len(header)), "IDAT")
	at := len(dst)

	e.out.bytes = dst
	e.zlib.Reset(&e.out)
	above := e.reserve(im.Width * im.Channels)
	for y := range im.Height {
		row := im.Row(y)
		if _, err := e.zlib.Write(e.filter(row, above, im.Channels)); err != nil {
			return dst[:start], fmt.Errorf("encode as PNG: %w", err)
		}
		above = row
	}
	if err := e.zlib.Close(); err != nil {
		return dst[:start], fmt.Errorf("encode as PNG: %w", err)
	}
	dst, e.out.bytes = e.out.bytes, nil

	n := len(dst) - at
	if int64(n) >= 1<<31 {
		return dst[:start], fmt.Errorf("encode as PNG: %dx%d pixels take over 2 GiB", im.Width, im.Height)
	}
	dst = endChunk(dst, n)
	return endChunk(beginChunk(dst, "IEND"), 0), nil
}

// reserve makes room for rows of n bytes and returns one of zeros.
func (e *pngEncoder) reserve(n int) []uint8 {
	for i := range e.lines {
		e.lines[i] = slices.Grow(e.lines[i][:0], n+1)[:n+1]
		e.lines[i][0] = uint8(i)
	}
	e.none = slices.Grow(e.none[:0], n)[:n]
	clear(e.none)
	return e.none
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

// appender is a writer that appends.
type appender struct{ bytes []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}
