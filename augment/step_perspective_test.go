package augment

import (
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/codec/warp"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestPerspectiveCorners maps the corners of the image to those of the step, and back.
func TestPerspectiveCorners(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 40}, {37, 29}, {4000, 3000}, {60000, 2}} {
		w, h := size[0], size[1]
		for _, d := range draws(t, "perspective:1,p=1", 200, w, h) {
			if len(d.Steps) == 0 {
				continue // ten times no convex quadrilateral
			}
			s := d.Steps[0].(Perspective)
			m, tilt := warp.Forward(s.Corners).Inverse(w, h)
			for i, corner := range bitmap.Corners((Box{XMin: 0, YMin: 0, XMax: float64(w), YMax: float64(h)})) {
				to := s.Corners[i]
				at := steps.TiltBox(s, Box{XMin: corner[0], YMin: corner[1], XMax: corner[0], YMax: corner[1]}, w, h)
				if math.Abs(at.XMin-float64(to[0])) > 1e-6 || math.Abs(at.YMin-float64(to[1])) > 1e-6 {
					t.Fatalf("%v of %dx%d: %v goes to %v", s.Corners, w, h, corner, at)
				}
				x, y := m.At(float64(to[0]), float64(to[1]))
				z := tilt.At(float64(to[0]), float64(to[1]))
				if scale := 1e-6 * float64(w+h); math.Abs(x/z-corner[0]) > scale || math.Abs(y/z-corner[1]) > scale {
					t.Fatalf("%v of %dx%d: %v comes from %v, %v", s.Corners, w, h, to, x/z, y/z)
				}
			}
		}
	}
}

// TestPerspectiveIsTorchvisions draws corners as far from the image's as torchvision does, and
// always if they cannot pass each other.
func TestPerspectiveIsTorchvisions(t *testing.T) {
	const w, h = 101, 80
	var most [4][2]int
	for _, d := range draws(t, "perspective:p=1", 3000, w, h) {
		if len(d.Steps) != 1 {
			t.Fatalf("drew %s", drawJSON(t, d))
		}
		s := d.Steps[0].(Perspective)
		if s.Filter != Bilinear {
			t.Fatalf("filter %v", s.Filter)
		}
		for i, corner := range [4][2]int{{0, 0}, {w, 0}, {w, h}, {0, h}} {
			for axis, at := range corner {
				inwards := s.Corners[i][axis] - at
				if at > 0 {
					inwards = -inwards
				}
				if inwards < 0 {
					t.Fatalf("%v is outside", s.Corners)
				}
				most[i][axis] = max(most[i][axis], inwards)
			}
		}
	}
	if want := [2]int{25, 20}; most != [4][2]int{want, want, want, want} {
		t.Errorf("corners move by %v, want %v", most, want)
	}
	same := draws(t, "perspective:0,p=1", 1, w, h)[0]
	src, got := imagetest.Wave(w, h, 3), new(Image)
	if err := same.Apply(got, src, nil); err != nil {
		t.Fatal(err)
	}
	if string(got.Pix) != string(src.Pix) {
		t.Error("a distortion_scale of 0 changes the image")
	}
}
