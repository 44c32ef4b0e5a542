package webp

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The transforms (RFC 9649, 4).
const (
	predictorTransform = iota
	colorTransform
	greenTransform
	paletteTransform
)

// transform is one that must be inverted.
type transform struct {
	kind  uint32
	width int    // of the image after it is inverted
	bits  uint32 // the logarithm of the side of tiles, or of how many pixels a palette's index holds
	tiles []byte // the table, as pixels: of tiles, or a palette of 256
}

// readTransform reads a transform, and makes w the width of the image that it was applied to.
func (d *vp8l) readTransform(w *int, h int) error {
	r := &d.r
	t := transform{kind: r.read(2), width: *w}
	for _, other := range d.transforms {
		if other.kind == t.kind {
			return errors.New("a transform occurs twice")
		}
	}
	var err error
	mem := &d.tiles[t.kind]
	switch t.kind {
	case predictorTransform, colorTransform:
		t.bits = 2 + r.read(3)
		*mem, err = d.readPixels(*mem, tiles(*w, t.bits), tiles(h, t.bits), false)
	case paletteTransform:
		n := 1 + int(r.read(8))
		switch {
		case n <= 2:
			t.bits = 3
		case n <= 4:
			t.bits = 2
		case n <= 16:
			t.bits = 1
		}
		*w = tiles(*w, t.bits)
		if *mem, err = d.readPixels(*mem, n, 1, false); err == nil {
			palette := *mem
			for i := 4; i < len(palette); i++ {
				palette[i] += palette[i-4]
			}
			*mem = slices.Grow(palette, 4*256-len(palette))[:4*256]
			clear((*mem)[4*n:]) // an index past the palette is transparent black
		}
	}
	t.tiles = *mem
	d.transforms = append(d.transforms, t)
	return err
}

// invert inverts a transform of h rows, in place if the width stays. It returns the result.
func (d *vp8l) invert(t *transform, pix []byte, h int) []byte {
	row := 4 * t.width
	switch t.kind {
	case predictorTransform:
		invertFirstRow(pix[:row])
		for y := 1; y < h; y++ {
			invertPredictors(t, pix[(y-1)*row:(y+1)*row], y)
		}
	case colorTransform:
		for y := range h {
			invertColors(t, pix[y*row:][:row], y)
		}
	case greenTransform:
		for p := 0; p < len(pix); p += 4 {
			v := binary.LittleEndian.Uint32(pix[p:])
			green := v >> 8 & 0xFF
			binary.LittleEndian.PutUint32(pix[p:], v&0xFF00FF00|(v&0x00FF00FF+(green|green<<16))&0x00FF00FF)
		}
	case paletteTransform:
		if t.bits > 0 {
			d.wide = sized(d.wide, row*h)
		}
		out := d.wide
		if t.bits == 0 {
			out = pix
		}
		packed := 4 * tiles(t.width, t.bits)
		for y := range h {
			invertPalette(t, out[y*row:][:row], pix[y*packed:][:packed])
		}
		return out
	}
	return pix
}

// invertColors adds the products of the tile's factors with green, and with red, to red and blue.
func invertColors(t *transform, row []byte, y int) {
	at := t.tiles[4*(y>>t.bits)*tiles(t.width, t.bits):]
	for len(row) > 0 {
		redToBlue, greenToBlue, greenToRed := int32(int8(at[0])), int32(int8(at[1])), int32(int8(at[2]))
		n := min(len(row), 4<<t.bits)
		for tile := row[:n]; len(tile) >= 4; tile = tile[4:] {
			green := int32(int8(tile[1]))
			red := tile[0] + uint8(greenToRed*green>>5)
			tile[0] = red
			tile[2] += uint8(greenToBlue*green>>5) + uint8(redToBlue*int32(int8(red))>>5)
		}
		row, at = row[n:], at[4:]
	}
}

// invertPalette looks colours up whose indices are in the green of in.
func invertPalette(t *transform, row, in []byte) {
	palette := (*[4 * 256]byte)(t.tiles)
	if t.bits == 0 {
		for p := 0; p < len(row); p += 4 {
			*(*[4]byte)(row[p:]) = *(*[4]byte)(palette[4*int(in[p+1]):])
		}
		return
	}
	each, perIndex := uint(8)>>t.bits, 4<<t.bits
	for len(row) > 0 {
		index := uint(in[1])
		n := min(len(row), perIndex)
		for p := 0; p < n; p += 4 {
			*(*[4]byte)(row[p:]) = *(*[4]byte)(palette[4*(index&(1<<each-1)):])
			index >>= each
		}
		row, in = row[n:], in[4:]
	}
}
