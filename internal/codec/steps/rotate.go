package steps

import (
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/warp"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/exact"
)

// MaxAngle bounds angles, in degrees, to what keeps its precision.
const MaxAngle = 360_000

// Rotate rotates the image around its middle, with the bytes of Pillow's Image.rotate and
// torchvision's rotate.
type Rotate struct {
	// Angle is in degrees, counter-clockwise.
	Angle float64 `json:"angle"`
	// Expand makes the result large enough for the whole rotated image. Without it the size does
	// not change.
	Expand bool `json:"expand,omitzero"`
	// Filter is Nearest, Bilinear or Bicubic. The zero value is Bilinear;
	// torchvision's default is Nearest.
	Filter resample.Filter `json:"filter"`
	// Fill is the colour of pixels from outside the image, in RGB; grayscale images get its
	// luminance.
	Fill [3]uint8 `json:"fill,omitzero"`
}

func (s Rotate) op() string { return "rotate" }

func (s Rotate) size(w, h int) (int, int) {
	switch angle := PositiveAngle(s); {
	case !s.Expand || angle == 0 || angle == 180:
		return w, h
	case angle == 90 || angle == 270:
		return h, w
	}
	_, w, h = RotateMatrix(s, w, h)
	return w, h
}

func (s Rotate) validate() error {
	if err := checkRange(s.op(), "angle", s.Angle, -MaxAngle, MaxAngle); err != nil {
		return err
	}
	return warp.CheckTransformFilter(s.op(), s.Filter)
}

func (s Rotate) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	switch o := s.orientation(src.Width, src.Height); {
	case o == 1:
		bitmap.CopyRows(dst, src)
		return nil
	case o > 1:
		bitmap.Orient(dst, src, o)
		return nil
	}
	m, _, _ := RotateMatrix(s, src.Width, src.Height)
	scratch, free := workspace.Take(scratch)
	defer free()
	warp.Apply(dst, src, &m, s.Filter, s.Fill, &workspace.Of(scratch).Steps.At)
	return nil
}

// orientation is the turn as an EXIF orientation if it loses nothing, or else 0.
func (s Rotate) orientation(w, h int) int {
	turns := s.Expand || w == h
	switch angle := PositiveAngle(s); {
	case angle == 0:
		return 1
	case angle == 180:
		return 3
	case angle == 90 && turns:
		return 8
	case angle == 270 && turns:
		return 6
	}
	return 0
}

// PositiveAngle is the angle as Python's angle % 360 has it.
func PositiveAngle(s Rotate) float64 {
	angle := math.Mod(s.Angle, 360)
	if angle < 0 {
		angle += 360
	}
	return angle
}

// RotateMatrix returns the map from the result to the source, and the size of the result, in the
// steps of Pillow's Image.rotate.
func RotateMatrix(s Rotate, w, h int) (m warp.Matrix, width, height int) {
	sin, cos := exact.SinCos(-exact.Radians(PositiveAngle(s)))
	sin, cos = exact.Round15(sin), exact.Round15(cos)
	m = warp.Matrix{cos, sin, 0, -sin, cos, 0}
	middleX, middleY := float64(w)/2, float64(h)/2
	x, y := m.At(-middleX, -middleY)
	m[2], m[5] = x+middleX, y+middleY
	if !s.Expand {
		return m, w, h
	}
	var left, top, right, bottom float64
	for i, corner := range [4][2]int{{0, 0}, {w, 0}, {w, h}, {0, h}} {
		x, y := m.At(float64(corner[0]), float64(corner[1]))
		if i == 0 {
			left, top, right, bottom = x, y, x, y
		}
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	width = int(math.Ceil(right)) - int(math.Floor(left))
	height = int(math.Ceil(bottom)) - int(math.Floor(top))
	m[2], m[5] = m.At(-float64(width-w)/2, -float64(height-h)/2)
	return m, width, height
}

// Affine rotates, shears, scales and then moves the image, which keeps its size. The bytes equal
// torchvision's affine on Pillow images.
type Affine struct {
	// Angle is in degrees, clockwise (unlike [Rotate]'s).
	Angle float64 `json:"angle"`
	// Translate is the distance that the image moves to the right and down, in pixels.
	Translate [2]int `json:"translate"`
	// Scale is the enlargement, 0.0001 to 10000; 1 keeps the size.
	Scale float64 `json:"scale"`
	// Shear is in degrees, along x and along y, between -90 and 90.
	Shear [2]float64 `json:"shear"`
	// Corner makes the top left corner the fixed point of rotation, scale and shear, as
	// AutoAugment's shears need. Otherwise it is the middle.
	Corner bool `json:"corner,omitzero"`
	// Filter is Nearest, Bilinear or Bicubic. The zero value is Bilinear;
	// torchvision's default is Nearest.
	Filter resample.Filter `json:"filter"`
	// Fill is the colour of pixels from outside the image, in RGB; grayscale images get its
	// luminance.
	Fill [3]uint8 `json:"fill,omitzero"`
}

func (s Affine) op() string { return "affine" }

func (s Affine) size(w, h int) (int, int) { return w, h }

func (s Affine) validate() error {
	if err := checkRange(s.op(), "angle", s.Angle, -MaxAngle, MaxAngle); err != nil {
		return err
	}
	if err := checkRange(s.op(), "scale", s.Scale, 0.0001, 10000); err != nil {
		return err
	}
	for i, axis := range [2]string{"x", "y"} {
		if err := checkBox(s.op(), s.Translate[i], 0, 1, 1); err != nil {
			return err
		}
		if shear := s.Shear[i]; !(math.Abs(shear) < 90) {
			return fmt.Errorf("%s: shear %v along %s: want more than -90 and less than 90", s.op(), shear, axis)
		}
	}
	return warp.CheckTransformFilter(s.op(), s.Filter)
}

func (s Affine) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	m := AffineMatrix(s, src.Width, src.Height)
	scratch, free := workspace.Take(scratch)
	defer free()
	warp.Apply(dst, src, &m, s.Filter, s.Fill, &workspace.Of(scratch).Steps.At)
	return nil
}

// AffineMatrix is the inverse of moving · centring · rotation · scale · shear along y
// · shear along x · centring back, in the steps of torchvision's
// _get_inverse_affine_matrix. The determinant of rotation and shears is 1, so
// that the inverse of these takes no division.
func AffineMatrix(s Affine, w, h int) warp.Matrix {
	turn, shearX, shearY := exact.Radians(s.Angle), exact.Radians(s.Shear[0]), exact.Radians(s.Shear[1])
	sin, cos := exact.SinCos(turn)
	tanX := exact.Tan(shearX)
	_, cosY := exact.SinCos(shearY)
	sinLess, cosLess := exact.SinCos(turn - shearY)

	a := cosLess / cosY
	b := float64(-cosLess*tanX)/cosY - sin
	c := sinLess / cosY
	d := float64(-sinLess*tanX)/cosY + cos
	m := warp.Matrix{d / s.Scale, -b / s.Scale, 0, -c / s.Scale, a / s.Scale, 0}

	var middleX, middleY float64
	if !s.Corner {
		middleX, middleY = float64(float64(w)*0.5), float64(float64(h)*0.5)
	}
	x, y := m.At(-middleX-float64(s.Translate[0]), -middleY-float64(s.Translate[1]))
	m[2], m[5] = x+middleX, y+middleY
	return m
}
