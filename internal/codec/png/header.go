package png

import (
	"encoding/binary"
	"fmt"
)

// Color is a colour type.
type Color uint8

// The colour types, with the standard's numbers.
const (
	Gray      Color = 0
	RGB       Color = 2
	Palette   Color = 3
	GrayAlpha Color = 4
	RGBA      Color = 6
)

// samples is the number of samples in a pixel, by colour type.
var samples = [...]int{Gray: 1, RGB: 3, Palette: 1, GrayAlpha: 2, RGBA: 4}

// depths are the allowed depths of a colour type: bit N is set for N bits a sample.
var depths = [...]uint32{
	Gray: 1<<1 | 1<<2 | 1<<4 | 1<<8 | 1<<16, RGB: 1<<8 | 1<<16, Palette: 1<<1 | 1<<2 | 1<<4 | 1<<8, GrayAlpha: 1<<8 | 1<<16, RGBA: 1<<8 | 1<<16,
}

// Header describes the pixels of a file.
type Header struct {
	Width, Height int
	// Depth is the bits of a sample: 1, 2, 4, 8 or 16.
	Depth      int
	Color      Color
	Interlaced bool

	// Colors is the palette: red, green, blue and alpha. Entries that the file does not have are
	// black.
	Colors [256][4]byte
	// keyed reports whether pixels with the samples key are transparent.
	keyed bool
	key   [3]uint16
}

// bits returns the bits of a pixel.
func (h *Header) bits() int { return h.Depth * samples[h.Color] }

// header reads IHDR.
func (r *Reader) header(c chunk) error {
	if len(c.body) != 13 {
		return faulty(c.offset, "chunk IHDR of %d bytes", len(c.body))
	}
	w, h := binary.BigEndian.Uint32(c.body), binary.BigEndian.Uint32(c.body[4:])
	depth, color, interlace := c.body[8], Color(c.body[9]), c.body[12]
	switch {
	case c.body[10] != 0:
		return unsupported(c, "compression method %d", c.body[10])
	case c.body[11] != 0:
		return unsupported(c, "filter method %d", c.body[11])
	case interlace > 1:
		return faulty(c.offset, "interlace method %d", interlace)
	case w == 0 || h == 0 || w > 1<<31-1 || h > 1<<31-1:
		return faulty(c.offset, "a size of %dx%d", w, h)
	case int(color) >= len(depths) || depth > 16 || depths[color]>>depth&1 == 0:
		return unsupported(c, "colour type %d of %d bits", color, depth)
	}
	r.Header = Header{Width: int(w), Height: int(h), Depth: int(depth), Color: color, Interlaced: interlace == 1}
	return nil
}

func unsupported(c chunk, format string, args ...any) error {
	return &Error{Offset: c.offset, Reason: fmt.Sprintf(format, args...), Unsupported: true}
}

// palette reads PLTE.
func (r *Reader) palette(c chunk) error {
	n := len(c.body) / 3
	switch {
	case len(c.body)%3 != 0 || n == 0 || n > 256 || n > 1<<r.Depth:
		return faulty(c.offset, "a palette of %d bytes", len(c.body))
	case r.Color == Gray || r.Color == GrayAlpha:
		return faulty(c.offset, "a palette for gray pixels")
	case r.Color != Palette: // a suggestion
		return nil
	}
	for i := range r.Colors {
		r.Colors[i] = [4]byte{3: 255}
		if i < n {
			copy(r.Colors[i][:], c.body[3*i:3*i+3])
		}
	}
	return nil
}

// transparency reads tRNS.
func (r *Reader) transparency(c chunk) error {
	n := 2 * samples[r.Color]
	switch {
	case r.Color == Palette && len(c.body) <= 256:
		for i, v := range c.body {
			r.Colors[i][3] = v
		}
	case (r.Color == Gray || r.Color == RGB) && len(c.body) == n:
		r.keyed = true
		for i := range samples[r.Color] {
			r.key[i] = binary.BigEndian.Uint16(c.body[2*i:])
			if r.Depth < 16 {
				r.key[i] &= 0xFF // decoders ignore the upper byte
			}
		}
	default:
		return faulty(c.offset, "chunk tRNS of %d bytes for colour type %d", len(c.body), r.Color)
	}
	return nil
}
