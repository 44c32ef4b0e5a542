package tiff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Range is [imagefile.CodecOptions.FloatRange].
type Range struct{ Black, White float64 }

// NewRange checks the ends of a range. It returns nil for none.
func NewRange(ends *[2]float64) (*Range, error) {
	if ends == nil {
		return nil, nil
	}
	r := Range{ends[0], ends[1]}
	if size := r.White - r.Black; math.IsNaN(size) || math.IsInf(size, 0) || size <= 0 {
		return nil, fmt.Errorf("a range of floats from %v to %v: give two finite numbers, the smaller one first", r.Black, r.White)
	}
	return &r, nil
}

// ParseFloatRange parses [imagefile.CodecOptions.FloatRange], such as "0,1".
func ParseRange(s string) (*[2]float64, error) {
	black, white, ok := strings.Cut(s, ",")
	if !ok {
		return nil, fmt.Errorf("%q: want MIN,MAX, such as 0,1", s)
	}
	var ends [2]float64
	for i, end := range []string{black, white} {
		var err error
		if ends[i], err = strconv.ParseFloat(strings.TrimSpace(end), 64); err != nil {
			return nil, fmt.Errorf("%q is not a number", end)
		}
	}
	_, err := NewRange(&ends)
	return &ends, err
}

// level returns the nearest of the levels from 0, for black, to 255, for white.
func (r *Range) level(v float64) byte {
	share := (max(r.Black, min(v, r.White)) - r.Black) / (r.White - r.Black)
	return byte(float64(255*share) + 0.5) // rounded twice: fused, it would depend on the processor
}

var errNaN = errors.New("a sample is not a number (NaN)")

// floatPixels converts a row of floats, gray or RGB, to as many pixels as dst has room for: red,
// green, blue and alpha, a byte each.
func (t *file) floatPixels(dst, row []byte) error {
	for ; len(dst) > 0; dst = dst[4:] {
		for i := range t.samples {
			var v float64
			if t.bits == 32 {
				v, row = float64(math.Float32frombits(t.order.Uint32(row))), row[4:]
			} else {
				v, row = math.Float64frombits(t.order.Uint64(row)), row[8:]
			}
			if math.IsNaN(v) {
				return errNaN
			}
			if dst[i] = t.float.level(v); t.photometric == WhiteIsZero {
				dst[i] = 255 - dst[i]
			}
		}
		if t.samples == 1 {
			dst[1], dst[2] = dst[0], dst[0]
		}
		dst[3] = 255
	}
	return nil
}

// integrateFloats undoes the predictor of floats (Adobe Photoshop TIFF Technical Note 3): the first
// bytes of all samples of a row, the most significant ones, come before all second bytes, and each
// byte is the difference from the one of the pixel before it.
func (t *file) integrateFloats(d *decoder, row []byte) {
	for i := t.samples; i < len(row); i++ {
		row[i] += row[i-t.samples]
	}
	size := t.bits / 8
	n := len(row) / size
	planes := bitmap.Grown(&d.planes, len(row))
	copy(planes, row)
	for i := range size {
		at := i
		if t.order == binary.LittleEndian {
			at = size - 1 - i
		}
		for k, v := range planes[i*n : (i+1)*n] {
			row[k*size+at] = v
		}
	}
}
