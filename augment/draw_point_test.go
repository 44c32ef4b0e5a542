package augment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestPointFollowsPixels draws a white square of 3 pixels around a point with policies of several
// steps, and finds it where Point says that the point is.
func TestPointFollowsPixels(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(29, 1))
	specs := append(append([]string{}, straightSpecs...), turningSpecs...)
	compared, lost := 0, 0
	for i := range 600 {
		var chosen []string
		for range 1 + r.IntN(3) {
			chosen = append(chosen, specs[r.IntN(len(specs))])
		}
		w, h := 200+r.IntN(120), 200+r.IntN(120)
		x, y := 1+r.IntN(w-3), 1+r.IntN(h-3)
		draw := mustParse(t, strings.Join(chosen, "|")).Draw(r.Uint64(), "a", i, w, h)
		var im Image
		square := Box{XMin: float64(x - 1), YMin: float64(y - 1), XMax: float64(x + 2), YMax: float64(y + 2)}
		if err := draw.Mask(0).Apply(&im, painted(w, h, square), nil); err != nil {
			t.Fatal(err)
		}
		got, shown := draw.Point(Point{X: float64(x) + 0.5, Y: float64(y) + 0.5}, w, h)
		describe := func() string { return fmt.Sprintf("%d, %d of %dx%d by %s", x, y, w, h, drawJSON(t, draw)) }
		at := extent(&im)
		if !shown {
			if got != (Point{}) {
				t.Fatalf("%s: lost, and at %v", describe(), got)
			}
			lost++
			continue
		}
		if at.XMin > at.XMax {
			continue // shrunk to less than a pixel
		}
		if !bitmap.InImage(got, im.Width, im.Height) || got.X < at.XMin-1 || got.X > at.XMax+1 || got.Y < at.YMin-1 || got.Y > at.YMax+1 {
			t.Fatalf("%s: %v, but the pixels are at %v", describe(), got, at)
		}
		compared++
	}
	if compared < 250 || lost < 30 {
		t.Errorf("only %d points compared and %d lost", compared, lost)
	}
}

// A point moves as the corner of a box without any part outside.
func TestPointMovesWithBoxes(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 2))
	compared := 0
	for range 400 {
		w, h := 20+r.IntN(80), 20+r.IntN(80)
		p := Point{X: r.Float64() * float64(w), Y: r.Float64() * float64(h)}
		s := ResizeSpec{Width: 10 + r.IntN(90), Height: 10 + r.IntN(90), Fit: Fit(r.IntN(len(fit.FitNames))), NoAntialias: true}
		g := s.Geometry(w, h)
		got, shown := g.Point(p)
		b, share := g.Box(Box{XMin: p.X, YMin: p.Y, XMax: float64(w), YMax: float64(h)})
		if shown && share > 0 {
			compared++
			if math.Abs(got.X-b.XMin) > 1e-9 || math.Abs(got.Y-b.YMin) > 1e-9 {
				t.Fatalf("%+v: %v is at %v, the box at %v", g, p, got, b)
			}
		}
		if shown != bitmap.InImage(got, g.Width, g.Height) && shown || !shown && got != (Point{}) {
			t.Fatalf("%+v: %v is at %v, shown: %v", g, p, got, shown)
		}
		for o := range 10 {
			if q, c := p.Orient(o, w, h), bitmap.PointBox(p).Orient(o, w, h); q.X != c.XMin || q.Y != c.YMin {
				t.Fatalf("orientation %d: %v, the box %v", o, q, c)
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d points compared", compared)
	}
}

func TestPoint(t *testing.T) {
	nan := math.NaN()
	cutMix := Mixture{Method: steps.CutMix, Box: [4]int{2, 2, 4, 4}, Partners: []Partner{{Width: 10, Height: 10}}}
	for name, c := range map[string]struct {
		steps []Step
		p     Point
		want  Point
		shown bool
	}{
		"no step":                   {nil, Point{X: 1, Y: 2}, Point{X: 1, Y: 2}, true},
		"far corner":                {[]Step{HFlip{}, ResizeTo{Width: 7, Height: 9}}, Point{X: 0, Y: 10}, Point{X: 7, Y: 9}, true},
		"outside":                   {nil, Point{X: 10.5, Y: 2}, Point{}, false},
		"outside, moved in":         {[]Step{CropBox{X: -3, W: 16, H: 10}}, Point{X: -1, Y: 2}, Point{}, false},
		"left, and moved back":      {[]Step{CropBox{X: 5, W: 5, H: 10}, CropBox{X: -5, W: 10, H: 10}}, Point{X: 4, Y: 4}, Point{}, false},
		"no pixel moves":            {[]Step{Invert{}, Erase{W: 10, H: 10}}, Point{X: 3, Y: 3}, Point{X: 3, Y: 3}, true},
		"covered":                   {[]Step{cutMix}, Point{X: 2, Y: 5.5}, Point{}, false},
		"beside what covers":        {[]Step{cutMix}, Point{X: 6, Y: 3}, Point{X: 6, Y: 3}, true},
		"not a number":              {[]Step{Rotate{Angle: 20}}, Point{X: nan, Y: 3}, Point{}, false},
		"a quarter turn":            {[]Step{Rotate{Angle: 90, Expand: true}}, Point{X: 1, Y: 2}, Point{X: 2, Y: 9}, true},
		"turned out of the picture": {[]Step{Rotate{Angle: 45}}, Point{X: 0, Y: 0}, Point{}, false},
	} {
		got, shown := Draw{Steps: c.steps}.Point(c.p, 10, 10)
		if got != c.want || shown != c.shown {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, shown, c.want, c.shown)
		}
	}
}

func TestMirrors(t *testing.T) {
	mirrored := Perspective{Corners: [4][2]int{{9, 0}, {0, 0}, {0, 9}, {9, 9}}}
	for want, draws := range map[bool][][]Step{
		false: {nil, {HFlip{}, VFlip{}}, {Rotate{Angle: 180}, ResizeTo{Width: 1, Height: 1}}, {mirrored, HFlip{}}, {Perspective{Corners: [4][2]int{{0, 0}, {9, 0}, {9, 9}, {0, 9}}}}},
		true:  {{HFlip{}}, {VFlip{}, Invert{}}, {mirrored}, {HFlip{}, Mixture{Partners: []Partner{{Draw: Draw{Steps: []Step{HFlip{}}}}}}}},
	} {
		for _, steps := range draws {
			if got := (Draw{Steps: steps}).Mirrors(); got != want {
				t.Errorf("%s: %v", drawJSON(t, Draw{Steps: steps}), got)
			}
		}
	}
	for spec, want := range map[string]bool{
		"rotate:180": false, "hflip": true, "vflip:0.1|rotate:5": true, "hflip:0": false, "one_of(invert|sequence(vflip))": true, "one_of:p=0(hflip|invert)": false,
	} {
		if got := mustParse(t, spec).Mirrors(); got != want {
			t.Errorf("%s: %v", spec, got)
		}
	}
}

func TestPointAllocatesNothing(t *testing.T) {
	d := mustParse(t, "random_resized_crop:224|hflip:1|rotate:15|affine:10,0.1|perspective:p=1").Draw(1, "a", 1, 500, 375)
	g := ResizeSpec{Width: 224, Height: 224, Fit: Pad, NoAntialias: true}.Geometry(500, 375)
	if n := testing.AllocsPerRun(50, func() {
		d.Point(Point{X: 100, Y: 100}, 500, 375)
		g.Point(Point{X: 100, Y: 100})
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
