package region

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"

	"github.com/tfrec/tfrec/internal/annotation"
)

// fillRuns is Fill for a run-length encoding.
func fillRuns(dst []uint8, w, h int, r *annotation.Region) error {
	if r.Width != w || r.Height != h {
		return fmt.Errorf("an RLE of %d x %d pixels in an image of %d x %d", r.Width, r.Height, w, h)
	}
	if err := CheckRuns(r.Runs, w, h); err != nil {
		return err
	}
	// Bit 1 toggles, as in Fill.
	p := plotter{dst: dst, w: w, h: h, x0: w, y0: h, y1: h}
	at := 0
	for i, n := range r.Runs {
		if i%2 == 1 && n > 0 {
			p.run(at, at+int(n))
		}
		at += int(n)
	}
	if p.x0 < p.x1 {
		p.toggleDown()
		p.unite()
	}
	return nil
}

// run toggles the pixels from a to b, which count down the columns.
func (p *plotter) run(a, b int) {
	x, y := a/p.h, a%p.h
	end, bottom := b/p.h, b%p.h
	p.x0, p.x1 = min(p.x0, x), max(p.x1, (b-1)/p.h+1)
	p.y0 = min(p.y0, y)
	if x == end {
		p.dst[y*p.w+x] ^= 2
		p.dst[bottom*p.w+x] ^= 2
		return
	}
	p.dst[y*p.w+x] ^= 2
	if x+1 < end || bottom > 0 {
		p.y0 = 0
	}
	for x++; x < end; x++ {
		p.dst[x] ^= 2
	}
	if bottom > 0 {
		p.dst[end] ^= 2
		p.dst[bottom*p.w+end] ^= 2
	}
}

// CheckRuns returns an error if runs do not fill an image of w x h pixels exactly.
func CheckRuns(runs []uint32, w, h int) error {
	var sum uint64
	for _, n := range runs {
		sum += uint64(n)
	}
	if want := uint64(w) * uint64(h); sum != want {
		return fmt.Errorf("runs of %d pixels for the %d of %d x %d", sum, want, w, h)
	}
	return nil
}

// Runs returns the runs of a mask of w x h pixels. A mask without pixels has none.
func Runs(mask []uint8, w, h int) []uint32 {
	if w*h == 0 {
		return nil
	}
	box := Bounds(mask, w, h)
	return runsIn(mask[box.Min.Y*w+box.Min.X:], w, box, w, h)
}

// RunsIn returns the runs of an image of w x h pixels that are inside where a mask of the pixels of
// a rectangle is not 0.
func RunsIn(mask []uint8, r image.Rectangle, w, h int) []uint32 {
	return runsIn(mask, r.Dx(), r, w, h)
}

// runsIn is RunsIn of a mask whose rows begin stride bytes apart.
func runsIn(mask []uint8, stride int, r image.Rectangle, w, h int) []uint32 {
	var runs []uint32
	from, inside := 0, false
	turn := func(at int, to bool) {
		if inside != to {
			runs = append(runs, uint32(at-from))
			from, inside = at, to
		}
	}
	for x := range r.Dx() {
		column := (r.Min.X + x) * h
		if r.Min.Y > 0 {
			turn(column, false)
		}
		for y := range r.Dy() {
			turn(column+r.Min.Y+y, mask[y*stride+x] != 0)
		}
		if r.Max.Y < h {
			turn(column+r.Max.Y, false)
		}
	}
	if r.Max.X < w {
		turn(r.Max.X*h, false)
	}
	return append(runs, uint32(w*h-from))
}

// Area returns how many pixels of a mask are inside.
func Area(mask []uint8) int { return len(mask) - bytes.Count(mask, []byte{0}) }

// Bounds returns the smallest rectangle that has all pixels inside of a mask of w x h pixels; empty
// if there are none.
func Bounds(mask []uint8, w, h int) image.Rectangle {
	var box image.Rectangle
	for y := range h {
		row := mask[y*w : (y+1)*w]
		first := firstInside(row)
		if first == w {
			continue
		}
		last := w
		for row[last-1] == 0 {
			last--
		}
		box = box.Union(image.Rect(first, y, last, y+1))
	}
	return box
}

// firstInside returns the position of the first byte that is not 0, or the length of row.
func firstInside(row []uint8) int {
	at := 0
	for at+8 <= len(row) && binary.LittleEndian.Uint64(row[at:]) == 0 {
		at += 8
	}
	for at < len(row) && row[at] == 0 {
		at++
	}
	return at
}
