package steps

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// begin returns an error for parameters and images that a step can't use, and sets the size of dst.
func begin[S Step](s S, dst, src *bitmap.Image) error {
	if err := s.validate(); err != nil {
		return err
	}
	if dst == src {
		return fmt.Errorf("%s: the result must not be the source itself", s.op())
	}
	if err := bitmap.CheckImage(src); err != nil {
		return fmt.Errorf("%s: %w", s.op(), err)
	}
	w, h := s.size(src.Width, src.Height)
	if w != src.Width || h != src.Height {
		if err := CheckResult(s.op(), w, h); err != nil {
			return err
		}
	}
	dst.Reset(w, h, src.Channels)
	return nil
}

// CheckResult limits the size of a step's result.
func CheckResult(op string, w, h int) error {
	if w < 1 || h < 1 || w > bitmap.MaxSide || h > bitmap.MaxSide || int64(w)*int64(h) > bitmap.MaxPixels {
		return fmt.Errorf("%s to %dx%d pixels: want sides of 1 to %d and at most %d pixels in all", op, w, h, bitmap.MaxSide, bitmap.MaxPixels)
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

// MaxFactor bounds the factors of the colour steps: far beyond any use, and
// within what integers hold.
const MaxFactor = 1e6

// checkFactor returns an error for factors that aren't 0 to a million.
func checkFactor(op string, factor float64) error {
	return checkRange(op, "factor", factor, 0, MaxFactor)
}
