package bmp

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// Header holds the headers of a BMP file. BMP is decoded here because golang.org/x/image/bmp
// reads neither run lengths nor 16 bits a pixel, both of which occur.
type Header struct {
	Width, Height  int
	Alpha, HasDeep bool // whether there is alpha, and samples have more than 8 bits

	topDown     bool
	depth       int // bits a pixel
	compression int
	pixels      int       // where they begin
	masks       [4]uint32 // of red, green, blue, alpha in a pixel of 16 or 32 bits
	palette     []byte    // colours, as stored
	entry       int       // bytes of one
}

// Compressions of BMP.
const (
	PlainRGB       = 0
	RLE8           = 1
	RLE4           = 2
	Bitfields      = 3
	AlphaBitfields = 6
)

// Stat reads the headers.
func Stat(data []byte) (h Header, err error) {
	err = h.read(data)
	return h, err
}

func (b *Header) read(data []byte) error {
	le := binary.LittleEndian
	if len(data) < 26 {
		return sniff.Damaged(sniff.BMP, "the file has %d bytes only", len(data))
	}
	b.pixels = int(le.Uint32(data[10:]))
	size := int(le.Uint32(data[14:]))
	b.entry = 4
	colors := 0
	switch {
	case size == 12:
		b.Width, b.Height = int(le.Uint16(data[18:])), int(le.Uint16(data[20:]))
		b.depth, b.entry = int(le.Uint16(data[24:])), 3
	case size >= 40 && size <= 1024 && len(data) < 14+40:
		return sniff.Damaged(sniff.BMP, "the header is cut short")
	case size >= 40 && size <= 1024:
		b.Width, b.Height = int(int32(le.Uint32(data[18:]))), int(int32(le.Uint32(data[22:])))
		b.depth, b.compression = int(le.Uint16(data[28:])), int(le.Uint32(data[30:]))
		colors = int(le.Uint32(data[46:]))
	default:
		return sniff.Unsupported(sniff.BMP, "a header of %d bytes", size)
	}
	if b.Height < 0 {
		b.Height, b.topDown = -b.Height, true
	}
	after := 14 + size
	switch b.depth {
	case 16:
		b.masks = [4]uint32{0x7C00, 0x3E0, 0x1F, 0}
	case 32:
		b.masks = [4]uint32{0xFF0000, 0xFF00, 0xFF, 0}
	case 1, 2, 4, 8, 24:
	default:
		return sniff.Unsupported(sniff.BMP, "%d bits a pixel", b.depth)
	}
	switch {
	case b.compression == PlainRGB,
		b.compression == RLE8 && b.depth == 8,
		b.compression == RLE4 && b.depth == 4:
	case (b.compression == Bitfields || b.compression == AlphaBitfields) && (b.depth == 16 || b.depth == 32):
		n := 3
		if size >= 56 || b.compression == AlphaBitfields {
			n = 4
		}
		if len(data) < 54+4*n {
			return sniff.Damaged(sniff.BMP, "the colour masks are cut short")
		}
		for i := range n {
			b.masks[i] = le.Uint32(data[54+4*i:])
		}
		after = max(after, 54+4*n)
	default:
		return sniff.Unsupported(sniff.BMP, "compression %d with %d bits a pixel", b.compression, b.depth)
	}
	b.Alpha = b.masks[3] != 0
	for _, mask := range b.masks[:3] {
		b.HasDeep = b.HasDeep || mask>>bits.TrailingZeros32(mask) > 255
	}
	if b.depth <= 8 {
		if colors == 0 {
			colors = 1 << b.depth
		}
		if colors < 0 || colors > 1<<b.depth {
			return sniff.Damaged(sniff.BMP, "a palette of %d colours for %d bits a pixel", colors, b.depth)
		}
		if after+colors*b.entry > len(data) {
			return sniff.Damaged(sniff.BMP, "the palette is cut short")
		}
		b.palette = data[after : after+colors*b.entry]
	}
	if b.pixels < after || b.pixels > len(data) {
		return sniff.Damaged(sniff.BMP, "its pixels begin at byte %d of %d", b.pixels, len(data))
	}
	return nil
}

// Decode decodes an image whose headers were read to 1 or 3 channels, with samples of 16 bits if
// deep is set, on a background unless that is nil.
func (b *Header) Decode(dst *bitmap.Image, data []byte, channels int, deep bool, background *[3]uint8) error {
	data = data[b.pixels:]
	var indices []byte // one byte a pixel, for run lengths
	stride := b.stride()
	if b.RunLengths() {
		var err error
		if indices, err = unpackRuns(data, b.Width, b.Height, b.compression == RLE4); err != nil {
			return err
		}
	} else if have, last := int64(len(data)), (int64(b.Width)*int64(b.depth)+7)/8; have < stride*int64(b.Height-1)+last {
		return sniff.Damaged(sniff.BMP, "%d bytes of pixels are too few for %dx%d", have, b.Width, b.Height)
	}
	pixel := channels
	if deep {
		pixel *= 2
	}
	dst.Reset(b.Width, b.Height, pixel)
	row := make([]byte, 4*b.Width)
	for y := range b.Height {
		from := b.Height - 1 - y
		if b.topDown {
			from = y
		}
		switch {
		case deep:
			b.deepRow(dst.Row(y), data[int64(from)*stride:])
			continue
		case indices != nil:
			b.paletted(row, indices[from*b.Width:], 8)
		case b.depth <= 8:
			b.paletted(row, data[int64(from)*stride:], b.depth)
		default:
			b.direct(row, data[int64(from)*stride:])
		}
		if background != nil && b.Alpha {
			recolor.LayOn(row, *background)
		}
		recolor.FillRow(dst.Row(y), row, channels)
	}
	return nil
}

// stride returns the size of a row that is not in run lengths, with its padding.
func (b *Header) stride() int64 { return (int64(b.Width)*int64(b.depth) + 31) / 32 * 4 }

// RunLengths reports whether the pixels are in run lengths.
func (b *Header) RunLengths() bool { return b.compression == RLE4 || b.compression == RLE8 }

// Plain reports whether the file is whole rows of 8, 24 or 32 bits a pixel, not compressed in 8,
// and ends with them.
func (b *Header) Plain(bytes int) bool {
	exact := int64(bytes-b.pixels) == b.stride()*int64(b.Height) // with padding, and nothing after it
	return exact && b.depth >= 8 && b.depth != 16 && b.compression != RLE8
}

// paletted looks up a row of indices of some bits each. One past the palette is black.
func (b *Header) paletted(row, src []byte, depth int) {
	for x := range len(row) / 4 {
		bit := x * depth
		i := int(src[bit/8]>>(8-depth-bit%8)&(1<<depth-1)) * b.entry
		if i+3 > len(b.palette) {
			recolor.SetPixel(row[4*x:], 0, 0, 0, 255)
			continue
		}
		recolor.SetPixel(row[4*x:], b.palette[i+2], b.palette[i+1], b.palette[i], 255)
	}
}

// direct reads a row of pixels that hold colours.
func (b *Header) direct(row, src []byte) {
	if b.depth == 24 {
		for x := range len(row) / 4 {
			recolor.SetPixel(row[4*x:], src[3*x+2], src[3*x+1], src[3*x], 255)
		}
		return
	}
	for x := range len(row) / 4 {
		v := b.pixel(src, x)
		a := byte(255)
		if b.masks[3] != 0 {
			a = byte(masked(v, b.masks[3], 255))
		}
		recolor.SetPixel(row[4*x:], byte(masked(v, b.masks[0], 255)), byte(masked(v, b.masks[1], 255)), byte(masked(v, b.masks[2], 255)), a)
	}
}

// deepRow reads a row of pixels that hold colours as samples of 16 bits, the upper byte first.
func (b *Header) deepRow(row, src []byte) {
	for x := range len(row) / 6 {
		v := b.pixel(src, x)
		for i, mask := range b.masks[:3] {
			binary.BigEndian.PutUint16(row[6*x+2*i:], uint16(masked(v, mask, math.MaxUint16)))
		}
	}
}

// pixel returns pixel x of a row, of 16 or 32 bits.
func (b *Header) pixel(src []byte, x int) uint32 {
	if b.depth == 16 {
		return uint32(binary.LittleEndian.Uint16(src[2*x:]))
	}
	return binary.LittleEndian.Uint32(src[4*x:])
}

// masked takes a sample out of a pixel and scales it to 0 to most.
func masked(v, mask uint32, most uint64) uint64 {
	if mask == 0 {
		return 0
	}
	shift := bits.TrailingZeros32(mask)
	full := uint64(mask >> shift)
	return (uint64(v&mask>>shift)*most + full/2) / full
}

// unpackRuns decodes run lengths of 8 or 4 bits to one byte a pixel, in the file's order of
// rows. Pixels that are jumped over have index 0. A row may go on in the padding that it would have
// without run lengths, as ImageMagick's do.
func unpackRuns(data []byte, w, h int, nibbles bool) ([]byte, error) {
	out := make([]byte, w*h)
	padded := (w + 3) &^ 3 // whole words
	if nibbles {
		padded = (w + 7) &^ 7
	}
	x, y := 0, 0
	put := func(i, v byte) {
		if nibbles {
			v = v >> (4 * (1 - i&1)) & 15
		}
		if x < w && y < h {
			out[y*w+x] = v
		}
		x++
	}
	for len(data) >= 2 {
		n, v := data[0], data[1]
		data = data[2:]
		switch {
		case n > 0:
			for i := range n {
				put(i, v)
			}
		case v == 0: // end of the row
			x, y = 0, y+1
		case v == 1: // end of the image
			return out, nil
		case v == 2:
			if len(data) < 2 {
				return nil, sniff.Damaged(sniff.BMP, "the run lengths are cut short")
			}
			x, y = x+int(data[0]), y+int(data[1])
			data = data[2:]
		default: // uncompressed pixels, padded to whole words
			size := int(v)
			if nibbles {
				size = (size + 1) / 2
			}
			if len(data) < size {
				return nil, sniff.Damaged(sniff.BMP, "the run lengths are cut short")
			}
			for i := range v {
				if nibbles {
					put(i, data[i/2])
				} else {
					put(i, data[i])
				}
			}
			data = data[min(len(data), size+size&1):]
		}
		if x > padded || y > h {
			return nil, sniff.Damaged(sniff.BMP, "the run lengths leave the image")
		}
	}
	if y >= h || y == h-1 && x >= w {
		return out, nil // only the mark of the end is missing
	}
	return nil, sniff.Damaged(sniff.BMP, "the run lengths end too early")
}
