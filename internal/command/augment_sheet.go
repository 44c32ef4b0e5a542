package command

import (
	"errors"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/augment"
)

// sheetGap is what lies between the cells of a sheet and around them, in pixels.
const sheetGap = 4

// sheet is a contact sheet: small images in rows on white, from the top left.
type sheet struct {
	image         augment.Image
	cell, columns int
	free, cells   int
}

// newSheet makes a sheet for so many images, each in a square cell of so many pixels a side, with
// about as many rows as columns.
func newSheet(images, cell int) (*sheet, error) {
	if images < 1 || cell < 1 || images > augment.DefaultMaxPixels || cell > augment.MaxSide {
		return nil, fmt.Errorf("sheet of %d images of %d pixels: want at least 1, and sides of 1 to %d", images, cell, augment.MaxSide)
	}
	columns := int(math.Ceil(math.Sqrt(float64(images))))
	rows := (images + columns - 1) / columns
	w, h := columns*(cell+sheetGap)+sheetGap, rows*(cell+sheetGap)+sheetGap
	if w > augment.MaxSide || h > augment.MaxSide || int64(w)*int64(h) > augment.DefaultMaxPixels {
		return nil, fmt.Errorf("sheet to %dx%d pixels: want sides of 1 to %d and at most %d pixels in all", w, h, augment.MaxSide, augment.DefaultMaxPixels)
	}
	s := &sheet{cell: cell, columns: columns, cells: images}
	s.image.Reset(w, h, 3)
	for i := range s.image.Pix {
		s.image.Pix[i] = 255
	}
	return s, nil
}

// add puts an image of any size into the next cell, whole and in its middle. The image itself is
// not changed.
func (s *sheet) add(im *augment.Image) error {
	if s.free == s.cells {
		return errors.New("sheet: all cells are taken")
	}
	spec := augment.ResizeSpec{Width: s.cell, Height: s.cell, Fit: augment.Pad, Antialias: true, PadColor: [3]uint8{255, 255, 255}}
	var small, color augment.Image
	if err := spec.Apply(&small, im, nil); err != nil {
		return fmt.Errorf("sheet: %w", err)
	}
	if err := augment.ToRGB(&color, &small); err != nil {
		return fmt.Errorf("sheet: %w", err)
	}
	x := sheetGap + s.free%s.columns*(s.cell+sheetGap)
	y := sheetGap + s.free/s.columns*(s.cell+sheetGap)
	for row := range s.cell {
		copy(s.image.Row(y + row)[3*x:], color.Row(row))
	}
	s.free++
	return nil
}
