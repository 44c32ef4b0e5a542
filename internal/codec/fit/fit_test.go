package fit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want ResizeSpec
		err  string
	}{
		{text: "224x160", want: ResizeSpec{Width: 224, Height: 160}},
		{text: "224", want: ResizeSpec{Square: 224}},
		{text: "1x65535", want: ResizeSpec{Width: 1, Height: 65535}},
		{text: "banana", err: `size "banana": want WxH like 224x224, or N like 224`},
		{text: "", err: `size "": want WxH like 224x224, or N like 224`},
		{text: "224x", err: "want WxH"},
		{text: "x224", err: "want WxH"},
		{text: "2x2x2", err: "want WxH"},
		{text: "-5", err: "want WxH"},
		{text: "+5x5", err: "want WxH"},
		{text: "5.5", err: "want WxH"},
		{text: "0", err: "want sides of 1 to 65535 pixels"},
		{text: "0x5", err: "want sides of 1 to 65535 pixels"},
		{text: "65536x5", err: "want sides of 1 to 65535 pixels"},
		{text: "99999999999999999999", err: "want sides of 1 to 65535 pixels"},
		{text: "65535x65535", err: "pixels in all"},
	} {
		got, err := ParseSize(c.text)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want one that says %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for f := range Fit(len(FitNames)) {
		if got, err := ParseFit(f.String()); err != nil || got != f {
			t.Errorf("%v is read as %v, %v", f, got, err)
		}
	}
	for f := range resample.Filter(len(resample.FilterNames)) {
		if got, err := resample.ParseFilter(f.String()); err != nil || got != f {
			t.Errorf("%v is read as %v, %v", f, got, err)
		}
	}
	if _, err := ParseFit("squeeze"); err == nil || !strings.Contains(err.Error(), "stretch, crop, pad, shorter, longer") {
		t.Errorf("an unknown fit: %v", err)
	}
	if _, err := resample.ParseFilter("cubic"); err == nil || !strings.Contains(err.Error(), "bilinear, nearest, area, bicubic, lanczos3") {
		t.Errorf("an unknown filter: %v", err)
	}
	if Fit(9).String() != "Fit(9)" || resample.Filter(9).String() != "Filter(9)" {
		t.Errorf("values without a name: %v, %v", Fit(9), resample.Filter(9))
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		spec ResizeSpec
		err  string
	}{
		{ResizeSpec{Width: 3, Height: 4, NoAntialias: true}, ""},
		{ResizeSpec{Square: 4, NoUpscale: true, NoAntialias: true}, ""},
		{ResizeSpec{}, "resize to 0x0: each side must be at least 1 pixel"},
		{ResizeSpec{Width: 70000, Height: 4, NoAntialias: true}, "no side may be over 65535 pixels"},
		{ResizeSpec{Square: -1, NoAntialias: true}, "at least 1 pixel"},
		{ResizeSpec{Square: 4, Width: 3, Height: 4, NoAntialias: true}, "set it or them"},
		{ResizeSpec{Square: 4, Fit: Pad, NoAntialias: true}, "set it or them"},
		{ResizeSpec{Width: 3, Height: 4, Filter: 77, NoAntialias: true}, "unknown filter Filter(77)"},
		{ResizeSpec{Width: 3, Height: 4, Fit: 77, NoAntialias: true}, "unknown fit Fit(77)"},
	} {
		err := c.spec.Validate()
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: error %v, want %q", c.spec, err, c.err)
		}
	}
}

// The crops are those of torchvision 0.2x: Resize(N), CenterCrop(N).
func TestGeometry(t *testing.T) {
	at := func(scaledW, scaledH, x, y, w, h int) Geometry {
		return Geometry{ScaledWidth: scaledW, ScaledHeight: scaledH, CropX: x, CropY: y, WindowWidth: w, WindowHeight: h, Width: w, Height: h}
	}
	padded := func(scaledW, scaledH, x, y, w, h int) Geometry {
		return Geometry{ScaledWidth: scaledW, ScaledHeight: scaledH, WindowWidth: scaledW, WindowHeight: scaledH, Width: w, Height: h, PadX: x, PadY: y}
	}
	for _, c := range []struct {
		spec ResizeSpec
		w, h int
		want Geometry
	}{
		{ResizeSpec{Width: 224, Height: 160, NoAntialias: true}, 500, 375, at(224, 160, 0, 0, 224, 160)},
		{ResizeSpec{Width: 224, Height: 160, NoUpscale: true, NoAntialias: true}, 100, 375, at(100, 160, 0, 0, 100, 160)},

		{ResizeSpec{Square: 224, NoAntialias: true}, 500, 375, at(298, 224, 37, 0, 224, 224)}, // 298.67 is cut
		{ResizeSpec{Square: 224, NoAntialias: true}, 375, 500, at(224, 298, 0, 37, 224, 224)},
		{ResizeSpec{Square: 4, NoAntialias: true}, 9, 4, at(9, 4, 2, 0, 4, 4)},   // 2.5 to the even 2
		{ResizeSpec{Square: 4, NoAntialias: true}, 11, 4, at(11, 4, 4, 0, 4, 4)}, // 3.5 to the even 4
		{ResizeSpec{Square: 224, NoAntialias: true}, 100, 100, at(224, 224, 0, 0, 224, 224)},
		{ResizeSpec{Square: 224, NoUpscale: true, NoAntialias: true}, 100, 80, at(100, 80, 0, 0, 100, 80)},
		{ResizeSpec{Square: 224, NoUpscale: true, NoAntialias: true}, 300, 80, at(300, 80, 38, 0, 224, 80)},
		{ResizeSpec{Square: 224, NoAntialias: true}, 1, 60000, at(224, 13440000, 0, 6719888, 224, 224)},

		{ResizeSpec{Width: 224, Height: 100, Fit: Crop, NoAntialias: true}, 500, 375, at(224, 168, 0, 34, 224, 100)},
		{ResizeSpec{Width: 100, Height: 224, Fit: Crop, NoAntialias: true}, 500, 375, at(298, 224, 99, 0, 100, 224)},
		{ResizeSpec{Width: 224, Height: 224, Fit: Crop, NoUpscale: true, NoAntialias: true}, 500, 100, at(500, 100, 138, 0, 224, 100)},

		{ResizeSpec{Width: 224, Height: 224, Fit: Pad, NoAntialias: true}, 500, 375, padded(224, 168, 0, 28, 224, 224)},
		{ResizeSpec{Width: 225, Height: 224, Fit: Pad, NoAntialias: true}, 375, 500, padded(168, 224, 28, 0, 225, 224)},
		{ResizeSpec{Width: 10, Height: 10, Fit: Pad, NoAntialias: true}, 1000, 1, padded(10, 1, 0, 4, 10, 10)},
		{ResizeSpec{Width: 224, Height: 224, Fit: Pad, NoUpscale: true, NoAntialias: true}, 50, 37, padded(50, 37, 87, 93, 224, 224)},

		{ResizeSpec{Width: 224, Height: 224, Fit: Shorter, NoAntialias: true}, 500, 375, at(298, 224, 0, 0, 298, 224)},
		{ResizeSpec{Width: 400, Height: 224, Fit: Shorter, NoAntialias: true}, 500, 375, at(400, 300, 0, 0, 400, 300)},
		{ResizeSpec{Width: 224, Height: 224, Fit: Shorter, NoUpscale: true, NoAntialias: true}, 500, 200, at(500, 200, 0, 0, 500, 200)},
		{ResizeSpec{Width: 224, Height: 224, Fit: Longer, NoAntialias: true}, 500, 375, at(224, 168, 0, 0, 224, 168)},
		{ResizeSpec{Width: 224, Height: 100, Fit: Longer, NoAntialias: true}, 500, 375, at(133, 100, 0, 0, 133, 100)},
		{ResizeSpec{Width: 224, Height: 224, Fit: Longer, NoAntialias: true}, 3000, 2, at(224, 1, 0, 0, 224, 1)},
		{ResizeSpec{Width: 224, Height: 224, Fit: Longer, NoUpscale: true, NoAntialias: true}, 100, 50, at(100, 50, 0, 0, 100, 50)},
	} {
		c.want.SourceWidth, c.want.SourceHeight = c.w, c.h
		if got := c.spec.Geometry(c.w, c.h); got != c.want {
			t.Errorf("%+v of %dx%d:\n got %+v\nwant %+v", c.spec, c.w, c.h, got, c.want)
		}
	}
}

func TestMinDecode(t *testing.T) {
	for _, c := range []struct {
		spec         ResizeSpec
		wantW, wantH int
	}{
		{ResizeSpec{Width: 224, Height: 160}, 336, 240},
		{ResizeSpec{Square: 224}, 447, 336},
		{ResizeSpec{Width: 224, Height: 224, Fit: Pad}, 336, 252},
		{ResizeSpec{Width: 223, Height: 3}, 335, 5},
		{ResizeSpec{Width: 224, Height: 160, NoAntialias: true}, 0, 0},
		{ResizeSpec{Width: 224, Height: 160, Filter: resample.Nearest}, 0, 0},
		{ResizeSpec{Width: 224, Height: 160, Filter: resample.Area, NoAntialias: true}, 560, 400},
	} {
		if w, h := c.spec.MinDecode(4000, 3000); w != c.wantW || h != c.wantH {
			t.Errorf("%+v: %dx%d, want %dx%d", c.spec, w, h, c.wantW, c.wantH)
		}
	}
}

// whole resizes all of src and cuts and pads then, pixel by pixel.
func whole(t *testing.T, spec ResizeSpec, g Geometry, src *bitmap.Image) *bitmap.Image {
	t.Helper()
	var all, out bitmap.Image
	if err := Resize(&all, src, g.ScaledWidth, g.ScaledHeight, spec.Filter, !spec.NoAntialias); err != nil {
		t.Fatal(err)
	}
	out.Reset(g.Width, g.Height, src.Channels)
	for y := range g.Height {
		for x := range g.Width {
			color := spec.PadColor[:]
			if src.Channels == 1 {
				color = []uint8{recolor.Luminance(color[0], color[1], color[2])}
			}
			if wx, wy := x-g.PadX, y-g.PadY; wx >= 0 && wx < g.WindowWidth && wy >= 0 && wy < g.WindowHeight {
				color = all.Row(wy + g.CropY)[(wx+g.CropX)*src.Channels:][:src.Channels]
			}
			copy(out.Row(y)[x*src.Channels:], color)
		}
	}
	return &out
}

func TestApply(t *testing.T) {
	var scratch workspace.Scratch
	specs := []ResizeSpec{
		{Width: 30, Height: 20, NoAntialias: true},
		{Width: 30, Height: 20, Fit: Crop, NoAntialias: true},
		{Width: 20, Height: 90, Fit: Crop, NoAntialias: true},
		{Width: 30, Height: 40, Fit: Pad, PadColor: [3]uint8{10, 200, 30}, NoAntialias: true},
		{Width: 31, Height: 20, Fit: Pad, NoUpscale: true, NoAntialias: true},
		{Width: 30, Height: 20, Fit: Shorter, NoAntialias: true},
		{Width: 30, Height: 20, Fit: Longer, NoAntialias: true},
		{Square: 24, NoAntialias: true},
		{Square: 37, NoAntialias: true}, // the height of the source
		{Square: 100, NoAntialias: true},
		{Square: 100, NoUpscale: true, NoAntialias: true},
	}
	for _, spec := range specs {
		for _, f := range []resample.Filter{resample.Bilinear, resample.Nearest, resample.Area, resample.Lanczos3} {
			for _, antialias := range []bool{true, false} {
				for _, src := range []*bitmap.Image{imagetest.Noise(53, 37, 3), imagetest.Noise(37, 53, 1), imagetest.Noise(1, 7, 3)} {
					spec.Filter, spec.NoAntialias = f, !antialias
					name := fmt.Sprintf("%+v of %dx%dx%d", spec, src.Width, src.Height, src.Channels)
					g := spec.Geometry(src.Width, src.Height)
					var got bitmap.Image
					if err := spec.Apply(&got, src, &scratch); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					want := whole(t, spec, g, src)
					if got.Width != want.Width || got.Height != want.Height || got.Channels != want.Channels || !bytes.Equal(got.Pix, want.Pix) {
						t.Errorf("%s: the window isn't what resizing all and cutting gives", name)
					}
				}
			}
		}
	}
}

// A very long image is resized to millions of rows, of which few are kept.
func TestApplyLong(t *testing.T) {
	src := imagetest.Noise(1, 60000, 3)
	var got bitmap.Image
	if err := (ResizeSpec{Square: 224}).Apply(&got, src, nil); err != nil {
		t.Fatal(err)
	}
	if got.Width != 224 || got.Height != 224 {
		t.Errorf("%dx%d", got.Width, got.Height)
	}
	err := (ResizeSpec{Width: 224, Height: 224, Fit: Shorter}).Apply(&got, src, nil)
	if err == nil || !strings.Contains(err.Error(), "no side may be over 65535 pixels") {
		t.Errorf("all of it: %v", err)
	}
}

func TestApplyRefuses(t *testing.T) {
	src := imagetest.Noise(5, 4, 3)
	spec := ResizeSpec{Width: 2, Height: 2, NoAntialias: true}
	var dst bitmap.Image
	for name, err := range map[string]error{
		"itself":      spec.Apply(src, src, nil),
		"no target":   ResizeSpec{}.Apply(&dst, src, nil),
		"no image":    spec.Apply(&dst, &bitmap.Image{}, nil),
		"no geometry": spec.Render(&dst, src, Geometry{}, nil),
		"crop":        spec.Render(&dst, src, Geometry{ScaledWidth: 2, ScaledHeight: 2, CropX: 1, WindowWidth: 2, WindowHeight: 2, Width: 2, Height: 2}, nil),
		"pad":         spec.Render(&dst, src, Geometry{ScaledWidth: 2, ScaledHeight: 2, WindowWidth: 2, WindowHeight: 2, Width: 2, Height: 2, PadY: 1}, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
