package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"golang.org/x/image/ccitt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/inflate"
	"github.com/tfrec/tfrec/internal/codec/lzw"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// decoder is the memory of one decoding, reused.
type decoder struct {
	lzw     lzw.Reader
	inflate inflate.Reader
	row     []byte // as the file has it
	planes  []byte // the bytes of a row of floats, as the file has them
	pixels  []byte // red, green, blue and alpha of a row
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// release keeps what small images need for the next one.
func (d *decoder) release() {
	d.lzw.Reset(nil)
	d.inflate.Release()
	if cap(d.row)+cap(d.planes)+cap(d.pixels) > keptRows {
		d.row, d.planes, d.pixels = nil, nil, nil
	}
	decoders.Put(d)
}

// keptRows is the size of the rows whose memory is kept for the next image, in bytes.
const keptRows = 1 << 20

// decode decodes the blocks row by row into dst. It holds one row.
func (t *file) decode(dst *bitmap.Image, o Options) error {
	d := decoders.Get().(*decoder)
	defer d.release()
	row := bitmap.Grown(&d.row, (t.blockWidth*t.samples*t.bits+7)/8)
	for i := range t.across * t.down {
		x0, y0 := i%t.across*t.blockWidth, i/t.across*t.blockHeight
		wide, high := min(t.blockWidth, t.width-x0), min(t.blockHeight, t.height-y0)
		r, err := t.open(d, i, high)
		for y := 0; y < high && err == nil; y++ {
			if _, err = io.ReadFull(r, row); err == nil {
				switch t.predictor {
				case Difference:
					t.integrate(row)
				case FloatDifference:
					t.integrateFloats(d, row)
				}
				line := dst.Row(y0 + y)[x0*dst.Channels:][:wide*dst.Channels]
				if o.Deep {
					t.deep(line, row)
				} else {
					err = t.convert(d, line, row, o.Channels, o.Background)
				}
			}
		}
		if err == nil && t.compression != None {
			err = finish(r, int64(t.blockHeight-high)*int64(len(row)))
		}
		if err != nil {
			return sniff.Damaged(sniff.TIFF, "the block of data at byte %d: %v", t.offsets.at(i), noEOF(err))
		}
	}
	return nil
}

// convert writes the colours of a row, or their luminance, on a background unless that is nil.
func (t *file) convert(d *decoder, line, row []byte, channels int, background *[3]uint8) error {
	eight := t.bits == 8
	switch {
	case eight && t.photometric == RGB && t.samples == 3 && channels == 3, eight && t.photometric == BlackIsZero && t.samples == 1 && channels == 1:
		copy(line, row)
		return nil
	case eight && t.photometric == RGB && t.samples == 3:
		recolor.LuminanceRow(line, row)
		return nil
	}
	pixels := bitmap.Grown(&d.pixels, 4*len(line)/channels)
	makePixels := t.pixels
	if t.float != nil {
		makePixels = t.floatPixels
	}
	if err := makePixels(pixels, row); err != nil {
		return err
	}
	if background != nil {
		recolor.LayOn(pixels, *background)
	}
	recolor.FillRow(line, pixels, channels)
	return nil
}

// noEOF replaces io.EOF, which comes too early, by io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// finish reads the padding of a block up to the end of its coding, where a checksum may follow.
// Anything after the padding is ignored.
func finish(r io.Reader, padding int64) error {
	if _, err := io.CopyN(io.Discard, r, padding+1); err != io.EOF {
		return err
	}
	return nil
}

// block is the data of block i, as far as the file has them.
func (t *file) block(i int) []byte {
	from := min(t.offsets.at(i), len(t.data))
	return t.data[from:min(from+t.sizes.at(i), len(t.data))]
}

// piece is compressed data for the inflater.
type piece []byte

// Piece returns the data, and io.EOF from the second call on.
func (p *piece) Piece() ([]byte, error) {
	data := *p
	if *p = nil; len(data) == 0 {
		return nil, io.EOF
	}
	return data, nil
}

// open returns a reader of the rows of block i, of which the image needs rows. It is valid until
// the next one is opened.
func (t *file) open(d *decoder, i, rows int) (io.Reader, error) {
	data := t.block(i)
	switch t.compression {
	case None:
		return bytes.NewReader(data), nil
	case LZW:
		d.lzw.Reset(data)
		return &d.lzw, nil
	case PackBits:
		return &packBits{r: bytes.NewReader(data)}, nil
	case Deflate, DeflateOld:
		d.inflate.Reset((*piece)(&data), inflate.Zlib)
		return &d.inflate, nil
	case Group3, Group4:
		if t.tiled { // a tile has all of its rows
			rows = t.blockHeight
		}
		format := ccitt.Group3
		if t.compression == Group4 {
			format = ccitt.Group4
		}
		// A white run is bits 0, whatever colour the photometric interpretation gives them.
		return ccitt.NewReader(bytes.NewReader(data), t.faxOrder, format, t.blockWidth, rows, &ccitt.Options{Invert: true}), nil
	}
	return nil, fmt.Errorf("no reader for compression %d", t.compression)
}

// packBits undoes Apple's run lengths (TIFF 6.0, section 9).
type packBits struct {
	r     *bytes.Reader
	left  int  // bytes of the run
	same  bool // all of them are value
	value byte
}

func (p *packBits) Read(out []byte) (n int, err error) {
	for n < len(out) {
		for p.left == 0 {
			code, err := p.r.ReadByte()
			if err != nil {
				return n, err
			}
			switch c := int(int8(code)); {
			case c >= 0:
				p.left, p.same = c+1, false
			case c > -128:
				p.left, p.same = 1-c, true
				if p.value, err = p.r.ReadByte(); err != nil {
					return n, io.ErrUnexpectedEOF
				}
			}
		}
		part := out[n:min(len(out), n+p.left)]
		if p.same {
			for i := range part {
				part[i] = p.value
			}
		} else if _, err := io.ReadFull(p.r, part); err != nil {
			return n, io.ErrUnexpectedEOF
		}
		n += len(part)
		p.left -= len(part)
	}
	return n, nil
}

// integrate adds to each pixel of a row the one to its left.
func (t *file) integrate(row []byte) {
	switch {
	case t.bits == 8 && t.samples == 3:
		var red, green, blue byte
		for ; len(row) >= 3; row = row[3:] {
			red, green, blue = red+row[0], green+row[1], blue+row[2]
			row[0], row[1], row[2] = red, green, blue
		}
		return
	case t.bits == 8:
		for i := t.samples; i < len(row); i++ {
			row[i] += row[i-t.samples]
		}
		return
	}
	for i := 2 * t.samples; i < len(row); i += 2 {
		t.order.PutUint16(row[i:], t.order.Uint16(row[i:])+t.order.Uint16(row[i-2*t.samples:]))
	}
}

// pixels converts a row to as many pixels as dst has room for: red, green, blue and alpha, a byte
// each. It takes the upper 8 bits of samples of 16 bits.
func (t *file) pixels(dst, row []byte) error {
	switch n := len(dst) / 4; {
	case t.samples == 1 && t.bits <= 8:
		for x := range n {
			i := t.packed(row, x)
			if i >= t.colors {
				return fmt.Errorf("colour %d of a palette of %d", i, t.colors)
			}
			*(*[4]byte)(dst[4*x:]) = t.palette[i]
		}
	case t.photometric == CMYK:
		for x := range n {
			p := row[4*x : 4*x+4]
			white := 255 - uint32(p[3])
			recolor.SetPixel(dst[4*x:], recolor.LessInk(white, p[0]), recolor.LessInk(white, p[1]), recolor.LessInk(white, p[2]), 255)
		}
	case t.photometric == RGB:
		for x := range n {
			s := x * t.samples
			recolor.SetPixel(dst[4*x:], t.upper(row, s), t.upper(row, s+1), t.upper(row, s+2), t.opacity(row, s+3))
		}
	case t.samples == 2:
		for x := range n {
			v := t.upper(row, 2*x)
			recolor.SetPixel(dst[4*x:], v, v, v, t.opacity(row, 2*x+1))
		}
	default:
		for x := range n {
			v := t.gray(row, x)
			recolor.SetPixel(dst[4*x:], v, v, v, 255)
		}
	}
	if t.alpha == Associated {
		recolor.Unmultiply(dst)
	}
	return nil
}

// opacity is sample i of a row, if that is the alpha of a pixel.
func (t *file) opacity(row []byte, i int) byte {
	if t.alpha == noAlpha {
		return 255
	}
	return t.upper(row, i)
}

// upper is sample i of a row, its upper 8 bits.
func (t *file) upper(row []byte, i int) byte {
	if t.bits == 16 {
		return byte(t.order.Uint16(row[2*i:]) >> 8)
	}
	return row[i]
}

// packed is sample i of a row of samples of up to 8 bits.
func (t *file) packed(row []byte, i int) int {
	bit := i * t.bits
	return int(row[bit/8]) >> (8 - t.bits - bit%8) & (1<<t.bits - 1)
}

// gray is pixel x of a gray row of 16 bits.
func (t *file) gray(row []byte, x int) byte {
	v := t.upper(row, x)
	if t.photometric == WhiteIsZero {
		v = 255 - v
	}
	return v
}

// deep writes the pixels of a row of 16 bits a sample, gray or RGB, without alpha, the upper byte
// of a sample first.
func (t *file) deep(line, row []byte) {
	n := 1
	if t.photometric == RGB {
		n = 3
	}
	for ; len(line) > 0; line, row = line[2*n:], row[2*t.samples:] {
		opacity := uint32(math.MaxUint16)
		if t.alpha == Associated {
			opacity = uint32(t.order.Uint16(row[2*n:]))
		}
		for i := range n {
			v := uint32(t.order.Uint16(row[2*i:]))
			switch {
			case t.photometric == WhiteIsZero:
				v = math.MaxUint16 - v
			case opacity != 0:
				v = min(v*math.MaxUint16/opacity, math.MaxUint16)
			}
			binary.BigEndian.PutUint16(line[2*i:], uint16(v))
		}
	}
}
