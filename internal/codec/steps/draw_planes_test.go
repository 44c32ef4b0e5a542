package steps

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// anyBox is a crop of an image of w by h pixels that planes can follow.
func anyBox(r *rand.Rand, w, h int) ResizedCrop {
	s := ResizedCrop{W: 1 + r.IntN(w), H: 1 + r.IntN(h), Width: 1 + r.IntN(90), Height: 1 + r.IntN(90),
		Filter: [...]resample.Filter{resample.Bilinear, resample.Area, resample.Bicubic, resample.Lanczos3}[r.IntN(4)], Antialias: r.IntN(4) > 0}
	s.X, s.Y = r.IntN(w-s.W+1), r.IntN(h-s.H+1)
	return s
}

// TestDrawPlanesWhole: a box that is the whole image is what a resize to the same size makes of
// it, whatever the subsampling and the reduction.
func TestDrawPlanesWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 200 {
		src := imagetest.NoisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1<<r.IntN(4), imagetest.Subsamplings[r.IntN(4)], r.IntN(5))
		box := anyBox(r, src.Width, src.Height)
		spec := fit.ResizeSpec{Width: box.Width, Height: box.Height, Filter: box.Filter, NoAntialias: !box.Antialias}
		var got, want bitmap.Image
		if err := (Draw{[]Step{ResizeTo{box.Width, box.Height, box.Filter, box.Antialias}}}).ApplyPlanes(&got, src, nil); err != nil {
			t.Fatal(err)
		}
		if err := spec.RenderRGB(&want, src, spec.Geometry(src.Width, src.Height), nil); err != nil {
			t.Fatal(err)
		}
		if !samePixels(&got, &want) {
			t.Fatalf("%+v of %dx%d %s at 1/%d: other pixels than resized", box, src.Width, src.Height, src.Subsampling, src.Denom)
		}
	}
}

// TestDrawPlanesErrors: what is wrong with a step is said in the same words whichever way a
// image takes.
func TestDrawPlanesErrors(t *testing.T) {
	src := imagetest.NoisyPlanes(40, 30, 1, "420", 0)
	var rgb, dst bitmap.Image
	if err := src.RGB(&rgb); err != nil {
		t.Fatal(err)
	}
	for _, step := range []Step{
		ResizeTo{Width: 33, Height: 2161500},
		ResizedCrop{W: 40, H: 30, Width: 33, Height: 2161500},
		ResizedCrop{X: 1, W: 40, H: 30, Width: 9, Height: 9},
		CropBox{W: 33, H: 2161500},
	} {
		d := Draw{[]Step{step}}
		got, want := d.ApplyPlanes(&dst, src, nil), d.Apply(&dst, &rgb, nil)
		if got == nil || want == nil || got.Error() != want.Error() {
			t.Errorf("%+v: in planes %v, in RGB %v", step, got, want)
		}
	}
}

// samePixels reports whether two images are equal.
func samePixels(a, b *bitmap.Image) bool {
	if a.Width != b.Width || a.Height != b.Height || a.Channels != b.Channels {
		return false
	}
	for y := range a.Height {
		if string(a.Row(y)) != string(b.Row(y)) {
			return false
		}
	}
	return true
}

// TestDrawPlanesBox: from planes that all have the image's size a box comes as it does from a
// gray image, but for a level or two where the passes come in another order.
func TestDrawPlanesBox(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(43, 44))
	var scratch workspace.Scratch
	for range 200 {
		src := imagetest.NoisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1, "444", r.IntN(5))
		for _, im := range bitmap.Components(src) {
			for i, v := range im.Pix {
				im.Pix[i] = 96 + v/4 // what doesn't overshoot isn't clipped between the passes
			}
		}
		box := anyBox(r, src.Width, src.Height)
		if err := box.applyPlanes(new(bitmap.Image), src, &scratch); err != nil {
			t.Fatal(err)
		}
		for i, im := range bitmap.Components(&workspace.Of(&scratch).Planes) {
			var want bitmap.Image
			if err := box.apply(&want, bitmap.Components(src)[i], nil); err != nil {
				t.Fatal(err)
			}
			for j, v := range im.Pix {
				if d := int(v) - int(want.Pix[j]); max(d, -d) > 2 {
					t.Fatalf("%+v of %dx%d: plane %d differs by %d", box, src.Width, src.Height, i, d)
				}
			}
		}
	}
}

// TestDrawPlanesSiting: wherever a box begins and ends within the samples of chroma or of a
// reduced image, these stay where they belong.
func TestDrawPlanesSiting(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(45, 46))
	const slope = 0.5
	var scratch workspace.Scratch
	checked := 0
	for range 300 {
		w, h := 150+r.IntN(330), 150+r.IntN(330)
		src := imagetest.NoisyPlanes(w, h, 1<<r.IntN(3), imagetest.Subsamplings[r.IntN(4)], 0)
		from, _ := bitmap.SamplingOf(src)
		fx, fy := from.Factors()
		for i, im := range bitmap.Components(src) {
			per := float64(src.Denom)
			if i > 0 {
				per *= float64([]int{0, fx, fy}[i])
			}
			for y := range im.Height {
				for x := range im.Width {
					at := float64(x)
					if i == 2 {
						at = float64(y)
					}
					im.Row(y)[x] = uint8(min((at+0.5)*per*slope+0.5, 255))
				}
			}
		}
		box := anyBox(r, w, h)
		if box.Filter == resample.Area {
			box.Filter = resample.Bilinear // where Area enlarges there are steps
		}
		if err := box.applyPlanes(new(bitmap.Image), src, &scratch); err != nil {
			t.Fatal(err)
		}
		scaleX, scaleY := float64(box.W)/float64(box.Width), float64(box.H)/float64(box.Height)
		margin := 16 + 6*(max(scaleX, scaleY)+1) // the filter is cut at the edge
		for i, im := range bitmap.Components(&workspace.Of(&scratch).Planes) {
			for y := range im.Height {
				for x := range im.Width {
					px, py := (float64(x)+0.5)*scaleX, (float64(y)+0.5)*scaleY
					if px < margin || px > float64(box.W)-margin || py < margin || py > float64(box.H)-margin {
						continue
					}
					want := px + float64(box.X)
					if i == 2 {
						want = py + float64(box.Y)
					}
					checked++
					if v := float64(im.Row(y)[x]); math.Abs(v-want*slope) > 1.5 {
						t.Fatalf("%+v of %dx%d %s at 1/%d: plane %d at %d,%d holds %.0f, want %.1f", box, w, h, src.Subsampling, src.Denom, i, x, y, v, want*slope)
					}
				}
			}
		}
	}
	if checked < 10000 {
		t.Errorf("only %d samples were looked at", checked)
	}
}

// TestDrawPlanesSteps: the steps after the first are done to what it makes.
func TestDrawPlanesSteps(t *testing.T) {
	src := imagetest.NoisyPlanes(101, 77, 1, "420", 3)
	first := ResizedCrop{X: 3, Y: 5, W: 50, H: 40, Width: 30, Height: 20, Antialias: true}
	rest := []Step{HFlip{}, Invert{}, Posterize{3}, VFlip{}}
	for n := range len(rest) + 1 {
		draw := Draw{append([]Step{first}, rest[:n]...)}
		if !draw.TakesPlanes() {
			t.Fatal("it takes no planes")
		}
		var got, small, want bitmap.Image
		var scratch workspace.Scratch
		if err := draw.ApplyPlanes(&got, src, &scratch); err != nil {
			t.Fatal(err)
		}
		if err := first.applyPlanes(&small, src, &scratch); err != nil {
			t.Fatal(err)
		}
		if err := (Draw{rest[:n]}).Apply(&want, &small, nil); err != nil {
			t.Fatal(err)
		}
		if !samePixels(&got, &want) {
			t.Errorf("%d steps behind: other pixels", n)
		}
	}
	for _, draw := range []Draw{{}, {[]Step{HFlip{}, first}}, {[]Step{ResizeTo{Width: 3, Height: 3, Filter: resample.Nearest}}}} {
		if draw.TakesPlanes() {
			t.Errorf("%v takes planes", draw)
		}
		if err := draw.ApplyPlanes(new(bitmap.Image), src, nil); err == nil {
			t.Errorf("%v was done to planes", draw)
		}
	}
	first.X = 60
	if err := (Draw{[]Step{first}}).ApplyPlanes(new(bitmap.Image), src, nil); err == nil || !strings.Contains(err.Error(), "isn't within") {
		t.Errorf("a box beyond the edge: %v", err)
	}
	if err := (Draw{[]Step{CropBox{}}}).ApplyPlanes(new(bitmap.Image), src, nil); err == nil {
		t.Error("a box without size")
	}
	if err := (Draw{[]Step{ResizeTo{Width: 9, Height: 9}, CropBox{}}}).ApplyPlanes(new(bitmap.Image), src, nil); err == nil || !strings.Contains(err.Error(), "step 1") {
		t.Errorf("a second step without sense: %v", err)
	}
}

// TestDrawPlanesCrop: a crop of planes has the pixels of the crop in RGB, at any position.
func TestDrawPlanesCrop(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	for range 200 {
		src := imagetest.NoisyPlanes(1+r.IntN(120), 1+r.IntN(60), 1, imagetest.Subsamplings[r.IntN(4)], r.IntN(5))
		crop := CropBox{X: r.IntN(160) - 40, Y: r.IntN(80) - 20, W: 1 + r.IntN(100), H: 1 + r.IntN(60), Fill: [3]uint8{1, 2, 3}}
		draw := Draw{[]Step{crop, HFlip{}}}
		var rgb, got, want bitmap.Image
		if err := src.RGB(&rgb); err != nil {
			t.Fatal(err)
		}
		if err := draw.ApplyPlanes(&got, src, nil); err != nil {
			t.Fatal(err)
		}
		if err := draw.Apply(&want, &rgb, nil); err != nil {
			t.Fatal(err)
		}
		if !samePixels(&got, &want) {
			t.Fatalf("%+v of %dx%d %s: other pixels than in RGB", crop, src.Width, src.Height, src.Subsampling)
		}
	}
	small := imagetest.NoisyPlanes(20, 20, 2, "420", 0)
	if err := (Draw{[]Step{CropBox{W: 5, H: 5}}}).ApplyPlanes(new(bitmap.Image), small, nil); err == nil {
		t.Error("a crop of half of the image")
	}
}

func TestDrawMinDecode(t *testing.T) {
	for _, test := range []struct {
		step Step
		w, h int
	}{
		{ResizedCrop{W: 500, H: 250, Width: 100, Height: 50, Antialias: true}, 300, 300},
		{ResizedCrop{W: 500, H: 250, Width: 100, Height: 50}, 0, 0},
		{ResizeTo{Width: 100, Height: 50, Antialias: true}, 150, 75},
		{CropBox{W: 10, H: 10}, 0, 0},
		{HFlip{}, 0, 0},
	} {
		if w, h := (Draw{[]Step{test.step}}).MinDecode(1000, 1000); w != test.w || h != test.h {
			t.Errorf("%+v: %dx%d, want %dx%d", test.step, w, h, test.w, test.h)
		}
	}
}

// TestDrawPart: of an image decoded in part comes what comes of the whole, whatever else is in its
// planes.
func TestDrawPart(t *testing.T) {
	c := newCodec(t, imagefile.CodecOptions{Decoder: "go"})
	data := imagetest.Picture(t, "made-ok-160x88.jpg")
	r := rand.New(rand.NewPCG(45, 46))
	var whole, part bitmap.Planes
	for range 100 {
		draw := Draw{[]Step{anyBox(r, 160, 88)}}
		if r.IntN(3) == 0 {
			draw.Steps[0] = CropBox{X: r.IntN(180) - 20, Y: r.IntN(100) - 10, W: 1 + r.IntN(90), H: 1 + r.IntN(50)}
		}
		o := imagefile.DecodeOptions{}
		o.MinWidth, o.MinHeight = draw.MinDecode(160, 88)
		if _, err := c.DecodePlanes(&whole, data, o); err != nil {
			t.Fatal(err)
		}
		for _, im := range bitmap.Components(&part) {
			for i := range im.Pix {
				im.Pix[i] = byte(r.IntN(256))
			}
		}
		o.Part, o.Trusted = draw.Part(160, 88), r.IntN(2) > 0
		if _, err := c.DecodePlanes(&part, data, o); err != nil {
			t.Fatal(err)
		}
		var got, want bitmap.Image
		if err := draw.ApplyPlanes(&got, &part, nil); err != nil {
			t.Fatal(err)
		}
		if err := draw.ApplyPlanes(&want, &whole, nil); err != nil {
			t.Fatal(err)
		}
		if !samePixels(&got, &want) {
			t.Fatalf("%+v at 1/%d: other pixels than of the whole", draw.Steps[0], part.Denom)
		}
	}
}
