package augment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// painted is a black image with a white box.
func painted(w, h int, b Box) *Image {
	im := new(Image)
	im.Reset(w, h, 1)
	clear(im.Pix)
	for y := int(b.YMin); y < int(b.YMax); y++ {
		for x := int(b.XMin); x < int(b.XMax); x++ {
			im.Row(y)[x] = 255
		}
	}
	return im
}

// extent is the smallest box around what is white, without area where nothing is.
func extent(im *Image) Box {
	b := Box{XMin: math.Inf(1), YMin: math.Inf(1), XMax: 0, YMax: 0}
	for y := range im.Height {
		for x, v := range im.Row(y) {
			if v == 255 {
				at := Box{XMin: float64(x), YMin: float64(y), XMax: float64(x) + 1, YMax: float64(y) + 1}
				b = Box{XMin: min(b.XMin, at.XMin), YMin: min(b.YMin, at.YMin), XMax: max(b.XMax, at.XMax), YMax: max(b.YMax, at.YMax)}
			}
		}
	}
	return b
}

// wholeBox is a random box with whole pixels, 1 pixel or up to all of the image.
func wholeBox(r *rand.Rand, w, h int) Box {
	along := func(n int) (float64, float64) {
		length := 1 + r.IntN(n)
		at := r.IntN(n - length + 1)
		return float64(at), float64(at + length)
	}
	var b Box
	b.XMin, b.XMax = along(w)
	b.YMin, b.YMax = along(h)
	return b
}

// straightSpecs keep boxes parallel to the axes, turningSpecs do not.
var (
	straightSpecs = []string{
		"hflip:1", "vflip:1", "center_crop:200x150", "random_crop:220,padding=30", "resize:180", "resize:190x140", "random_resized_crop:200x160,scale=0.5-1",
		"rotate:90..90", "rotate:90..90,expand=true", "rotate:180..180", "rotate:-90..-90,expand=true", "affine:0,0.1,0.8-1.2", "brightness:0.1", "pad:20/10",
	}
	turningSpecs = []string{"rotate:45", "rotate:180,expand=true", "affine:30,0.1,0.8-1.1,10/5", "perspective:0.4,p=1"}
)

// TestBoxFollowsPixels draws white boxes with policies of several steps, and finds them where Box
// says that they are.
func TestBoxFollowsPixels(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(23, 1))
	exact, turned, worst := 0, 0, 0.0
	for i := range 600 {
		var specs []string
		for range 1 + r.IntN(3) {
			specs = append(specs, straightSpecs[r.IntN(len(straightSpecs))])
		}
		turns := r.IntN(2) == 0
		if turns {
			specs[r.IntN(len(specs))] = turningSpecs[r.IntN(len(turningSpecs))]
		}
		w, h := 200+r.IntN(120), 200+r.IntN(120)
		b := wholeBox(r, w, h)
		draw := mustParse(t, strings.Join(specs, "|")).Draw(r.Uint64(), "a", i, w, h)
		var im Image
		if err := draw.Mask(0).Apply(&im, painted(w, h, b), nil); err != nil {
			t.Fatal(err)
		}
		want, share := draw.Box(b, w, h)
		got := extent(&im)
		describe := func() string { return fmt.Sprintf("%v of %dx%d by %s", b, w, h, drawJSON(t, draw)) }
		if share < 0 || share > 1 || (share == 0) != (want.Area() == 0) {
			t.Fatalf("%s: a share of %v of %v", describe(), share, want)
		}
		if got.XMin > got.XMax { // nothing is left, or hardly anything
			if !turns && min(want.XMax-want.XMin, want.YMax-want.YMin) > 1 {
				t.Fatalf("%s: nothing is left of %v", describe(), want)
			}
			continue
		}
		if out := max(want.XMin-got.XMin, want.YMin-got.YMin, got.XMax-want.XMax, got.YMax-want.YMax); out > 1.5 {
			t.Fatalf("%s: %v, of which pixels are %v outside", describe(), want, out)
		}
		if turns && share < 1 {
			continue // what a clip leaves of a turned box is smaller than the box around it
		}
		off := imagetest.Farthest(got, want)
		if off > 1.5 {
			t.Fatalf("%s: %v, but the pixels are at %v", describe(), want, got)
		}
		worst = max(worst, off)
		exact++
		if turns {
			turned++
		}
	}
	if exact < 250 || turned < 70 {
		t.Errorf("only %d boxes compared, %d of them turned", exact, turned)
	}
	t.Logf("%d boxes, %d of them turned, up to %.2f pixels away", exact, turned, worst)
}

// TestGeometryBoxFollowsPixels does the same for the fits.
func TestGeometryBoxFollowsPixels(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(23, 2))
	compared := 0
	for range 600 {
		w, h := 150+r.IntN(100), 150+r.IntN(100)
		s := ResizeSpec{Width: 50 + r.IntN(250), Height: 50 + r.IntN(250), Fit: Fit(r.IntN(len(fit.FitNames))), NoUpscale: r.IntN(2) == 0, Filter: Nearest, NoAntialias: true}
		if r.IntN(4) == 0 {
			s = ResizeSpec{Square: 50 + r.IntN(200), Filter: Nearest, NoAntialias: true}
		}
		b := wholeBox(r, w, h)
		var im Image
		if err := s.Apply(&im, painted(w, h, b), nil); err != nil {
			t.Fatal(err)
		}
		g := s.Geometry(w, h)
		want, share := g.Box(b)
		if got := extent(&im); got.XMin < got.XMax {
			compared++
			if off := imagetest.Farthest(got, want); off > 1.5 {
				t.Fatalf("%+v: %v, but the pixels are at %v", g, want, got)
			}
		} else if min(want.XMax-want.XMin, want.YMax-want.YMin) > 1 {
			t.Fatalf("%+v: nothing is left of %v", g, want)
		}
		// The same as steps.
		steps := Draw{Steps: []Step{
			ResizeTo{Width: g.ScaledWidth, Height: g.ScaledHeight}, CropBox{X: g.CropX, Y: g.CropY, W: g.WindowWidth, H: g.WindowHeight},
			CropBox{X: -g.PadX, Y: -g.PadY, W: g.Width, H: g.Height},
		}}
		again, share2 := steps.Box(b, w, h)
		if again != want || math.Abs(share-share2) > 1e-12 {
			t.Fatalf("%+v: %v, a share of %v; as steps %v, %v", g, want, share, again, share2)
		}
	}
	if compared < 400 {
		t.Errorf("only %d boxes compared", compared)
	}
}

// TestOrientFollowsPixels finds boxes in oriented images, and turns them back.
func TestOrientFollowsPixels(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 3))
	for i := range 400 {
		orientation := 1 + i%8
		w, h := 1+r.IntN(30), 1+r.IntN(30)
		b := wholeBox(r, w, h)
		var im Image
		bitmap.Orient(&im, painted(w, h, b), orientation)
		got := b.Orient(orientation, w, h)
		if want := extent(&im); got != want {
			t.Errorf("orientation %d of %v in %dx%d: %v, want %v", orientation, b, w, h, got, want)
		}
		inverse := [...]int{6: 8, 8: 6}[orientation]
		if inverse == 0 {
			inverse = orientation
		}
		if back := got.Orient(inverse, im.Width, im.Height); back != b {
			t.Errorf("orientation %d: %v came back as %v", orientation, b, back)
		}
	}
	for _, o := range []int{-1, 0, 9} {
		if b := (Box{XMin: 1, YMin: 2, XMax: 3, YMax: 5}); b.Orient(o, 9, 9) != b {
			t.Errorf("orientation %d changes a box", o)
		}
	}
}

func TestBoxShare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	turn := Rotate{Angle: 90, Expand: true}
	for _, c := range []struct {
		name  string
		steps []Step
		b     Box
		w, h  int
		want  Box
		share float64
	}{
		{"no step", nil, Box{XMin: 1, YMin: 2, XMax: 3, YMax: 4}, 10, 10, Box{XMin: 1, YMin: 2, XMax: 3, YMax: 4}, 1},
		{"no pixel moves", []Step{Invert{}, Erase{W: 10, H: 10}, JPEGArtefacts{Quality: 50}}, Box{XMin: 1, YMin: 2, XMax: 3, YMax: 4}, 10, 10, Box{XMin: 1, YMin: 2, XMax: 3, YMax: 4}, 1},
		{"half outside", nil, Box{XMin: -2, YMin: 0, XMax: 2, YMax: 4}, 10, 10, Box{XMin: 0, YMin: 0, XMax: 2, YMax: 4}, 0.5},
		{"outside", []Step{HFlip{}}, Box{XMin: 11, YMin: 3, XMax: 15, YMax: 5}, 10, 10, Box{}, 0},
		{"no area", []Step{Rotate{Angle: 45}}, Box{XMin: 3, YMin: 3, XMax: 3, YMax: 7}, 10, 10, Box{}, 0},
		{"wrong way round", []Step{HFlip{}}, Box{XMin: 5, YMin: 3, XMax: 3, YMax: 7}, 10, 10, Box{}, 0},
		{"all of it", []Step{HFlip{}, turn, VFlip{}, turn, ResizeTo{Width: 7, Height: 9}}, Box{XMin: 0, YMin: 0, XMax: 31, YMax: 17}, 31, 17, Box{XMin: 0, YMin: 0, XMax: 7, YMax: 9}, 1},
		{"one pixel", []Step{HFlip{}, turn, ResizeTo{Width: 9, Height: 7}}, Box{XMin: 0, YMin: 0, XMax: 1, YMax: 1}, 1, 1, Box{XMin: 0, YMin: 0, XMax: 9, YMax: 7}, 1},
		{"two crops", []Step{CropBox{X: 5, W: 5, H: 10}, CropBox{Y: 5, W: 5, H: 5}}, Box{XMin: 4, YMin: 4, XMax: 6, YMax: 6}, 10, 10, Box{XMin: 0, YMin: 0, XMax: 1, YMax: 1}, 0.25},
		{"padded", []Step{CropBox{X: -3, Y: -4, W: 20, H: 20}}, Box{XMin: 0, YMin: 0, XMax: 10, YMax: 10}, 10, 10, Box{XMin: 3, YMin: 4, XMax: 13, YMax: 14}, 1},
		{"at the border of the crop", []Step{CropBox{X: 5, W: 5, H: 10}}, Box{XMin: 1, YMin: 1, XMax: 5, YMax: 5}, 10, 10, Box{}, 0},
		{"lost before it is turned", []Step{CropBox{X: 5, W: 5, H: 10}, Rotate{Angle: 45}}, Box{XMin: 1, YMin: 1, XMax: 5, YMax: 5}, 10, 10, Box{}, 0},
		{"huge", []Step{turn, ResizeTo{Width: 50, Height: 50}}, Box{XMin: 0, YMin: 0, XMax: 1e6, YMax: 1e6}, 1e6, 1e6, Box{XMin: 0, YMin: 0, XMax: 50, YMax: 50}, 1},
		{"not a number", []Step{HFlip{}, Rotate{Angle: 20}}, Box{XMin: nan, YMin: 1, XMax: 3, YMax: 4}, 10, 10, Box{}, 0},
		{"infinite", []Step{HFlip{}}, Box{XMin: -inf, YMin: -inf, XMax: inf, YMax: inf}, 10, 10, Box{XMin: 0, YMin: 0, XMax: 10, YMax: 10}, 0},
	} {
		got, share := Draw{Steps: c.steps}.Box(c.b, c.w, c.h)
		if got != c.want || share != c.share {
			t.Errorf("%s: %v and a share of %v, want %v and %v", c.name, got, share, c.want, c.share)
		}
	}
	if b, share := (ResizeSpec{Width: 10, Height: 10, Fit: Crop, NoAntialias: true}.Geometry(20, 10).Box(Box{XMin: 0, YMin: 0, XMax: 10, YMax: 10})); b != (Box{XMin: 0, YMin: 0, XMax: 5, YMax: 10}) || share != 0.5 {
		t.Errorf("%v and a share of %v from a crop", b, share)
	}
	if b, share := (ResizeSpec{Width: 10, Height: 10, Fit: Crop, NoAntialias: true}.Geometry(20, 10).Box(Box{XMin: 0, YMin: 0, XMax: 5, YMax: 10})); b != (Box{}) || share != 0 {
		t.Errorf("%v and a share of %v of a box that the crop cuts away", b, share)
	}
	if b, share := (ResizeSpec{Width: 7, Height: 9, NoAntialias: true}.Geometry(31, 17).Box(Box{XMin: 0, YMin: 0, XMax: 31, YMax: 17})); b != (Box{XMin: 0, YMin: 0, XMax: 7, YMax: 9}) || share != 1 {
		t.Errorf("%v and a share of %v of all of the image", b, share)
	}
}

// BenchmarkDrawBox moves ten boxes, and beside it the pixels.
func BenchmarkDrawBox(b *testing.B) {
	const w, h = 500, 375
	src := imagetest.Noise(w, h, 3)
	for name, text := range map[string]string{
		"crop": "random_resized_crop:224,scale=0.3-1|hflip:1|color_jitter:0.4,0.4,0.4,0.1",
		"turn": "rotate:15|affine:10,0.1|perspective:p=1|random_resized_crop:224",
	} {
		d := mustParse(b, text).Draw(1, "daisy/1.jpg", 2, w, h)
		var boxes [10]Box
		for i := range boxes {
			boxes[i] = wholeBox(rand.New(rand.NewPCG(1, uint64(i))), w, h)
		}
		b.Run(name+"/boxes", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, box := range boxes {
					d.Box(box, w, h)
				}
			}
		})
		b.Run(name+"/pixels", func(b *testing.B) {
			var dst Image
			var scratch Scratch
			for b.Loop() {
				if err := d.Apply(&dst, src, &scratch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestBoxAllocatesNothing(t *testing.T) {
	d := mustParse(t, "random_resized_crop:224|hflip:1|rotate:15|affine:10,0.1|perspective:p=1").Draw(1, "a", 1, 500, 375)
	g := ResizeSpec{Width: 224, Height: 224, Fit: Pad, NoAntialias: true}.Geometry(500, 375)
	if n := testing.AllocsPerRun(50, func() {
		d.Box(Box{XMin: 100, YMin: 100, XMax: 300, YMax: 200}, 500, 375)
		g.Box(Box{XMin: 100, YMin: 100, XMax: 300, YMax: 200})
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
