package augment

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"
)

// decode decodes the blocks row by row, and gives each row of a block to put: red, green, blue and
// alpha of its pixels from (x, y) of the image on. It holds one row.
func (t *tiffFile) decode(put func(x, y int, row []byte)) error {
	row := make([]byte, (t.blockWidth*t.samples*t.bits+7)/8)
	pixels := make([]byte, 4*min(t.blockWidth, t.width))
	var inflater io.ReadCloser
	for i := range t.across * t.down {
		x0, y0 := i%t.across*t.blockWidth, i/t.across*t.blockHeight
		wide, high := min(t.blockWidth, t.width-x0), min(t.blockHeight, t.height-y0)
		r, err := t.open(i, high, &inflater)
		for y := 0; y < high && err == nil; y++ {
			if _, err = io.ReadFull(r, row); err == nil {
				if t.difference {
					t.integrate(row)
				}
				if err = t.pixels(pixels[:4*wide], row); err == nil {
					put(x0, y0+y, pixels[:4*wide])
				}
			}
		}
		if err == nil && t.compression != tiffNone {
			err = finish(r, int64(t.blockHeight-high)*int64(len(row)))
		}
		if err != nil {
			return damaged(TIFF, "the block of data at byte %d: %v", t.offsets.at(i), noEOF(err))
		}
	}
	return nil
}

// noEOF makes an end of data that comes too early one that says so.
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
func (t *tiffFile) block(i int) []byte {
	from := min(t.offsets.at(i), len(t.data))
	return t.data[from:min(from+t.sizes.at(i), len(t.data))]
}

// open returns a reader of the rows of block i, of which the image needs rows. The inflater is
// reused.
func (t *tiffFile) open(i, rows int, inflater *io.ReadCloser) (io.Reader, error) {
	data := bytes.NewReader(t.block(i))
	switch t.compression {
	case tiffNone:
		return data, nil
	case tiffLZW:
		return lzw.NewReader(data, lzw.MSB, 8), nil
	case tiffPackBits:
		return &packBits{r: data}, nil
	case tiffDeflate, tiffDeflateOld:
		var err error
		if *inflater == nil {
			*inflater, err = zlib.NewReader(data)
		} else {
			err = (*inflater).(zlib.Resetter).Reset(data, nil)
		}
		return *inflater, err
	case tiffGroup3, tiffGroup4:
		if t.tiled { // a tile has all of its rows
			rows = t.blockHeight
		}
		format := ccitt.Group3
		if t.compression == tiffGroup4 {
			format = ccitt.Group4
		}
		return ccitt.NewReader(data, t.faxOrder, format, t.blockWidth, rows, &ccitt.Options{Invert: t.photometric == tiffWhiteIsZero}), nil
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
func (t *tiffFile) integrate(row []byte) {
	if t.bits == 8 {
		for i := t.samples; i < len(row); i++ {
			row[i] += row[i-t.samples]
		}
		return
	}
	for i := 2 * t.samples; i < len(row); i += 2 {
		t.order.PutUint16(row[i:], t.order.Uint16(row[i:])+t.order.Uint16(row[i-2*t.samples:]))
	}
}

// pixels makes of a row as many pixels as dst has room for: red, green, blue and alpha, a byte
// each. Samples of 16 bits give their upper 8.
func (t *tiffFile) pixels(dst, row []byte) error {
	switch n := len(dst) / 4; {
	case t.photometric == tiffPalette:
		for x := range n {
			i := t.packed(row, x)
			if i >= t.colors {
				return fmt.Errorf("colour %d of a palette of %d", i, t.colors)
			}
			*(*[4]byte)(dst[4*x:]) = t.palette[i]
		}
	case t.photometric == tiffCMYK:
		for x := range n {
			p := row[4*x : 4*x+4]
			white := 255 - uint32(p[3])
			setPixel(dst[4*x:], lessInk(white, p[0]), lessInk(white, p[1]), lessInk(white, p[2]), 255)
		}
	case t.photometric == tiffRGB:
		for x := range n {
			s, a := x*t.samples, byte(255)
			if t.samples == 4 {
				a = t.upper(row, s+3)
			}
			setPixel(dst[4*x:], t.upper(row, s), t.upper(row, s+1), t.upper(row, s+2), a)
		}
		if t.samples == 4 && t.alpha == tiffAssociated {
			unmultiply(dst)
		}
	default:
		for x := range n {
			v := t.gray(row, x)
			setPixel(dst[4*x:], v, v, v, 255)
		}
	}
	return nil
}

// upper is sample i of a row, its upper 8 bits.
func (t *tiffFile) upper(row []byte, i int) byte {
	if t.bits == 16 {
		return byte(t.order.Uint16(row[2*i:]) >> 8)
	}
	return row[i]
}

// packed is sample i of a row of samples of up to 8 bits.
func (t *tiffFile) packed(row []byte, i int) int {
	bit := i * t.bits
	return int(row[bit/8]) >> (8 - t.bits - bit%8) & (1<<t.bits - 1)
}

// gray is pixel x of a gray row. Floats go from 0 to 255, as Pillow's mode F is converted: cut to
// the range, fractions dropped.
func (t *tiffFile) gray(row []byte, x int) (v byte) {
	switch {
	case t.float:
		if f := math.Float32frombits(t.order.Uint32(row[4*x:])); f > 0 { // not for NaN
			v = byte(min(f, 255))
		}
		return v
	case t.bits == 16:
		v = t.upper(row, x)
	default:
		v = byte(t.packed(row, x) * 255 / (1<<t.bits - 1))
	}
	if t.photometric == tiffWhiteIsZero {
		v = 255 - v
	}
	return v
}
