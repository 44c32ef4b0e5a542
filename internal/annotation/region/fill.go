package region

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/swar"
)

// MaxSide is the largest width and height of a mask, in pixels.
const MaxSide = 1 << 20

// Fill sets dst, a mask of w x h pixels, to 1 in a region and to 0 outside.
//
// A polygon is in pixels of an image of r.Width x r.Height, and is scaled if w x h differs; if
// these are 0, it is in pixels of dst. Runs are not scaled: r.Width and r.Height must be w and h.
// On an error, the contents of dst are undefined.
func Fill(dst []uint8, w, h int, r *annotation.Region) error {
	if w < 0 || h < 0 || w > MaxSide || h > MaxSide || len(dst) != w*h {
		return fmt.Errorf("a mask of %d bytes is not one of %d x %d pixels, of at most %d a side", len(dst), w, h, MaxSide)
	}
	clear(dst)
	if r.Runs != nil {
		if err := fillRuns(dst, w, h, r); err != nil {
			return err
		}
	}
	if w == 0 || h == 0 || len(r.Polygons) == 0 {
		return nil
	}
	p := plotter{dst: dst, w: w, h: h, sx: 1, sy: 1, budget: maxCrossings, pixels: max(maxPixels, 8*w*h)}
	if r.Width > 0 && r.Height > 0 {
		p.sx, p.sy = float64(w)/float64(r.Width), float64(h)/float64(r.Height)
	}
	return p.union(r.Polygons)
}

// union fills polygons. A crossing of an outline toggles bit 1 of all pixels below it; bit 0 marks
// filled pixels.
func (p *plotter) union(polygons [][]float64) error {
	for i, outline := range polygons {
		p.x0, p.y0, p.x1, p.y1 = p.w, p.h, 0, 0
		if err := p.outline(outline); err != nil {
			return fmt.Errorf("polygon %d: %w", i+1, err)
		}
		if p.x0 >= p.x1 {
			continue
		}
		if p.pixels -= (p.x1 - p.x0) * max(p.y1-p.y0, 0); p.pixels < 0 {
			return fmt.Errorf("polygon %d: %w", i+1, errPixels)
		}
		p.toggleDown()
		p.unite()
	}
	return nil
}

// Bounds on the time of a Fill. maxCrossings is the maximum number of times that outlines cross
// columns of pixels: enough for a polygon of 32,768 edges from one side of an image of 1,024 pixels
// to the other. maxPixels is the maximum number of pixels in all boxes around polygons; eight times
// the pixels of the image are always allowed.
const (
	maxCrossings = 1 << 25
	maxPixels    = 1 << 30
)

var (
	errCrossings = errors.New("outlines that cross the columns of the image too often")
	errPixels    = errors.New("too many large polygons over each other")
)

// The lowest bit of eight bytes, and the others.
const (
	lowest = swar.Ones
	others = ^uint64(lowest)
)

// toggleDown makes each pixel from x0, y0 to x1, y1 the parity of the toggles in its column down to it.
func (p *plotter) toggleDown() {
	n := p.x1 - p.x0
	for y := p.y0 + 1; y < p.y1; y++ {
		above := p.dst[(y-1)*p.w+p.x0:][:n]
		row := p.dst[y*p.w+p.x0:][:n]
		for len(row) >= 8 && len(above) >= 8 {
			v := binary.LittleEndian.Uint64(row) ^ binary.LittleEndian.Uint64(above)&others
			binary.LittleEndian.PutUint64(row, v)
			row, above = row[8:], above[8:]
		}
		for i := range row {
			row[i] ^= above[i] &^ 1
		}
	}
}

// unite sets pixels from x0, y0 to x1, y1 to 1 where any bit is set, and to 0 elsewhere.
func (p *plotter) unite() {
	for y := p.y0; y < p.y1; y++ {
		row := p.dst[y*p.w+p.x0 : y*p.w+p.x1]
		for len(row) >= 8 {
			v := binary.LittleEndian.Uint64(row)
			// Bits shifted in from the next byte stay above the bits that count.
			v |= v >> 4
			v |= v >> 2
			v |= v >> 1
			binary.LittleEndian.PutUint64(row, v&lowest)
			row = row[8:]
		}
		for i, v := range row {
			row[i] = min(v, 1)
		}
	}
}
