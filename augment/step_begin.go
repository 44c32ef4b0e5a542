package augment

import (
	"fmt"
	"math"
)

// begin returns an error for parameters and images that a step can't use, and sets the size of dst.
func begin[S Step](s S, dst, src *Image) error {
	if err := s.validate(); err != nil {
		return err
	}
	if dst == src {
		return fmt.Errorf("%s: the result must not be the source itself", s.op())
	}
	if err := src.check(); err != nil {
		return fmt.Errorf("%s: %w", s.op(), err)
	}
	w, h := s.size(src.Width, src.Height)
	if w != src.Width || h != src.Height {
		if err := checkResult(s.op(), w, h); err != nil {
			return err
		}
	}
	dst.Reset(w, h, src.Channels)
	return nil
}

// checkResult limits the size of a step's result.
func checkResult(op string, w, h int) error {
	if w < 1 || h < 1 || w > MaxSide || h > MaxSide || int64(w)*int64(h) > maxPixels {
		return fmt.Errorf("%s to %dx%d pixels: want sides of 1 to %d and at most %d pixels in all", op, w, h, MaxSide, maxPixels)
	}
	return nil
}

// checkRange returns an error for a parameter that isn't within lo to hi.
func checkRange(op, name string, v, lo, hi float64) error {
	if v >= lo && v <= hi { // and not NaN
		return nil
	}
	return fmt.Errorf("%s: %s %v: want %v to %v", op, name, v, lo, hi)
}

// checkBox returns an error for rectangles without area and for positions that overflow.
func checkBox(op string, x, y, w, h int) error {
	const most = math.MaxInt32 / 4
	if w < 1 || h < 1 || w > most || h > most {
		return fmt.Errorf("%s: a box of %dx%d pixels: want at least 1x1", op, w, h)
	}
	if x < -most || y < -most || x > most || y > most {
		return fmt.Errorf("%s: a box at %d,%d is too far away", op, x, y)
	}
	return nil
}

// shade is a colour as the image's channels have it: itself in RGB, its
// luminance in grayscale. The result aliases c.
func shade(c *[3]uint8, channels int) []uint8 {
	if channels == 1 {
		c[0] = luminance(c[0], c[1], c[2])
	}
	return c[:channels]
}

// copyRows copies the pixels of an image to one of the same size.
func copyRows(dst, src *Image) {
	for y := range src.Height {
		copy(dst.Row(y), src.Row(y))
	}
}
