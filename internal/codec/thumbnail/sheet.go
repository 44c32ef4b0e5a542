package thumbnail

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/disintegration/imaging"

	"github.com/tfrec/tfrec/augment"
)

// Layout describes how the images of a sheet are laid out, in rows from the top left. Lengths are
// in pixels.
type Layout struct {
	Columns int         // 0: about as many as rows
	Side    int         // of an image's square
	Beneath int         // the height of the space beneath each square
	Gap     int         // between cells and around them
	Ground  color.Color // of squares, around the images
}

// Sheet is a contact sheet, on white.
type Sheet struct {
	Image       *image.RGBA
	layout      Layout
	free, cells int
}

// NewSheet makes an empty sheet for images.
func NewSheet(images int, l Layout) (*Sheet, error) {
	if images < 1 || l.Side < 1 || images > augment.DefaultMaxPixels || l.Side > augment.MaxSide {
		return nil, fmt.Errorf("sheet of %d images of %d pixels: want at least 1, and sides of 1 to %d", images, l.Side, augment.MaxSide)
	}
	if l.Columns == 0 {
		l.Columns = int(math.Ceil(math.Sqrt(float64(images))))
	}
	l.Columns = min(l.Columns, images)
	rows := (images + l.Columns - 1) / l.Columns
	w, h := l.Columns*(l.Side+l.Gap)+l.Gap, rows*(l.Side+l.Beneath+l.Gap)+l.Gap
	if w > augment.MaxSide || h > augment.MaxSide || int64(w)*int64(h) > augment.DefaultMaxPixels {
		return nil, fmt.Errorf("sheet to %dx%d pixels: want sides of 1 to %d and at most %d pixels in all", w, h, augment.MaxSide, augment.DefaultMaxPixels)
	}
	s := &Sheet{Image: image.NewRGBA(image.Rect(0, 0, w, h)), layout: l, cells: images}
	draw.Draw(s.Image, s.Image.Rect, image.White, image.Point{}, draw.Src)
	return s, nil
}

// Add puts an image, which fits the square, in the middle of the next one; without an image the
// square stays empty. It returns the square.
func (s *Sheet) Add(im *image.NRGBA) (image.Rectangle, error) {
	if s.free == s.cells {
		return image.Rectangle{}, errors.New("sheet: all cells are taken")
	}
	l := &s.layout
	column, row := s.free%l.Columns, s.free/l.Columns
	at := image.Pt(l.Gap+column*(l.Side+l.Gap), l.Gap+row*(l.Side+l.Beneath+l.Gap))
	square := image.Rectangle{Min: at, Max: at.Add(image.Pt(l.Side, l.Side))}
	cell := imaging.New(l.Side, l.Side, l.Ground)
	if im != nil {
		cell = imaging.PasteCenter(cell, im)
	}
	draw.Draw(s.Image, square, cell, image.Point{}, draw.Src)
	s.free++
	return square, nil
}
