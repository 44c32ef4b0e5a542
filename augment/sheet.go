package augment

import (
	"errors"
	"fmt"
	"math"
)

// sheetGap is what lies between the cells of a sheet and around them, in pixels.
const sheetGap = 4

// Sheet is a contact sheet: small pictures in rows on white, from the top left.
type Sheet struct {
	image         Image
	cell, columns int
	free, cells   int
}

// NewSheet makes a sheet for so many pictures, each in a square cell of so many
// pixels a side, with about as many rows as columns.
func NewSheet(pictures, cell int) (*Sheet, error) {
	if pictures < 1 || cell < 1 || pictures > maxPixels || cell > MaxSide {
		return nil, fmt.Errorf("sheet of %d pictures of %d pixels: want at least 1, and sides of 1 to %d", pictures, cell, MaxSide)
	}
	columns := int(math.Ceil(math.Sqrt(float64(pictures))))
	rows := (pictures + columns - 1) / columns
	w, h := columns*(cell+sheetGap)+sheetGap, rows*(cell+sheetGap)+sheetGap
	if err := checkResult("sheet", w, h); err != nil {
		return nil, err
	}
	s := &Sheet{cell: cell, columns: columns, cells: pictures}
	s.image.Reset(w, h, 3)
	fill(s.image.Pix, []uint8{255})
	return s, nil
}

// Add puts a picture of any size into the next cell, whole and in its middle.
// The picture itself is not changed.
func (s *Sheet) Add(im *Image) error {
	if s.free == s.cells {
		return errors.New("sheet: all cells are taken")
	}
	spec := ResizeSpec{Width: s.cell, Height: s.cell, Fit: Pad, Antialias: true, PadColor: [3]uint8{255, 255, 255}}
	var small, color Image
	if err := spec.Apply(&small, im, nil); err != nil {
		return fmt.Errorf("sheet: %w", err)
	}
	if err := ToRGB(&color, &small); err != nil {
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

// Image returns the sheet as it is so far. It aliases the sheet's memory.
func (s *Sheet) Image() *Image { return &s.image }
