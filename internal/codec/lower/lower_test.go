package lower

import (
	"errors"
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/render"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// ramp is an image in which all rows and columns differ.
func ramp(w, h, channels int) *bitmap.Image {
	im := new(bitmap.Image)
	im.Reset(w, h, channels)
	for i := range im.Pix {
		im.Pix[i] = uint8(7*i + i/w)
	}
	return im
}

// TestLoweredPrograms holds programs to what they cost: flips, crops and quarter
// turns have no operation of their own.
func TestLoweredPrograms(t *testing.T) {
	t.Parallel()
	resized := steps.ResizedCrop{X: 3, Y: 5, W: 40, H: 30, Width: 16, Height: 16, Antialias: true}
	planes := func() *bitmap.Planes {
		return &bitmap.Planes{Y: *ramp(64, 48, 1), Cb: *ramp(32, 24, 1), Cr: *ramp(32, 24, 1), Subsampling: "420", Width: 64, Height: 48, Denom: 1}
	}
	const (
		weigh, pick, convert = raster.Weigh, raster.Pick, raster.Convert
	)
	for _, c := range []struct {
		name   string
		task   render.Task
		want   []raster.Kind
		stages int
		sent   int64 // bytes of pixels
	}{
		{"crop, resize and flip", render.Task{Image: ramp(64, 48, 3), Draw: steps.Draw{Steps: []steps.Step{resized, steps.HFlip{}, steps.VFlip{}}}}, []raster.Kind{weigh, weigh}, 2, 40 * 30 * 3},
		{"flip and resize", render.Task{Image: ramp(64, 48, 3), Draw: steps.Draw{Steps: []steps.Step{steps.HFlip{}, steps.ResizeTo{Width: 9, Height: 9}}}}, []raster.Kind{weigh, weigh}, 2, 64 * 48 * 3},
		{"crop of planes, resize and flip", render.Task{Planes: planes(), Draw: steps.Draw{Steps: []steps.Step{resized, steps.HFlip{}}}},
			[]raster.Kind{weigh, weigh, weigh, weigh, weigh, weigh, convert}, 3, 40*30 + 2*21*16},
		{"planes to JPEG", render.Task{Planes: planes(), Resize: &fit.ResizeSpec{Width: 16, Height: 12}, Form: render.YCbCr, Subsampling: "420"},
			[]raster.Kind{weigh, weigh, weigh, weigh, weigh, weigh}, 2, 64 * 48 * 3 / 2},
		{"turn, crop and flip", render.Task{Image: ramp(64, 48, 3), Draw: steps.Draw{Steps: []steps.Step{steps.Rotate{Angle: 90, Expand: true}, steps.CropBox{X: 1, Y: 1, W: 20, H: 20}, steps.HFlip{}}}}, []raster.Kind{pick}, 1, 64 * 48 * 3},
		{"floats of a crop", render.Task{Image: ramp(64, 48, 1), Draw: steps.Draw{Steps: []steps.Step{steps.CropBox{X: 1, Y: 1, W: 20, H: 20}}}, Form: render.Floats}, []raster.Kind{raster.Normalize}, 1, 400},
		{"colours", render.Task{Image: ramp(64, 48, 3), Draw: steps.Draw{Steps: []steps.Step{steps.Brightness{Factor: 0.7}, steps.Contrast{Factor: 1.3}, steps.Saturation{Factor: 0.5}, steps.Hue{Factor: 0.1}}}},
			[]raster.Kind{raster.Sum, raster.Levels, raster.Recolor, raster.Recolor}, 4, 64 * 48 * 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p raster.Program
			if err := Task(&p, &c.task); err != nil {
				t.Fatal(err)
			}
			stages := map[int32]bool{}
			for i, o := range p.Ops {
				stages[p.Stages[i]] = true
				if i >= len(c.want) || o.Kind != c.want[i] {
					t.Errorf("operation %d is %v; want %v", i, o.Kind, c.want)
				}
			}
			sent := int64(0)
			for _, b := range p.Buffers {
				if b.Pix != nil && b.Region == raster.Input {
					sent += b.Size
				}
			}
			if len(p.Ops) != len(c.want) || len(stages) != c.stages || sent != c.sent {
				t.Errorf("%d operations in %d stages on %d bytes; want %d in %d on %d", len(p.Ops), len(stages), sent, len(c.want), c.stages, c.sent)
			}
		})
	}
}

func TestNotLowered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		task render.Task
		what string
	}{
		{"artefacts", render.Task{Image: ramp(8, 8, 3), Draw: steps.Draw{Steps: []steps.Step{steps.HFlip{}, steps.JPEGArtefacts{Quality: 50}}}}, "jpeg"},
		{"a perspective", render.Task{Image: ramp(8, 8, 3), Draw: steps.Draw{Steps: []steps.Step{steps.HFlip{}, steps.Perspective{Corners: [4][2]int{{0, 0}, {8, 1}, {8, 8}, {0, 8}}}}}}, "perspective"},
		{"places too far away", render.Task{Image: ramp(8, 8, 3), Draw: steps.Draw{Steps: []steps.Step{steps.Affine{Angle: 30, Scale: 0.0001, Filter: resample.Nearest}}}}, "affine"},
		{"a wrong step", render.Task{Image: ramp(8, 8, 3), Draw: steps.Draw{Steps: []steps.Step{steps.Gamma{Gamma: math.NaN(), Gain: 1}}}}, "gamma"},
		{"a box outside", render.Task{Image: ramp(8, 8, 3), Draw: steps.Draw{Steps: []steps.Step{steps.ResizedCrop{X: 4, W: 5, H: 5, Width: 5, Height: 5}}}}, "resized_crop"},
		{"no image", render.Task{}, "a task that is wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p raster.Program
			var lacks *NotLoweredError
			err := Task(&p, &c.task)
			if !errors.As(err, &lacks) || lacks.What != c.what {
				t.Errorf("error %v; want one about %s", err, c.what)
			}
		})
	}
}

// TestHugeImages holds sizes to what operations have numbers for. Images that large
// are not made.
func TestHugeImages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w, h, channels, bytes int
		huge                  bool
	}{
		{65535, 65535, 3, 4, false},
		{1, 1<<31 - 1, 1, 1, false},
		{1 << 29, 1, 3, 1, false},
		{1 << 29, 1, 3, 4, true},
		{1 << 30, 1, 3, 1, true},
		{1, 1 << 30 << 1, 1, 1, true},
	} {
		worked, sent := writer{p: new(raster.Program)}, writer{p: new(raster.Program)}
		worked.work(c.w, c.h, c.channels, c.bytes)
		sent.send(&bitmap.Image{Pix: []byte{0}, Channels: c.channels}, 0, 0, c.w*c.bytes, c.h)
		if worked.huge != c.huge || sent.huge != c.huge {
			t.Errorf("%+v: %v of what is computed, %v of what is sent", c, worked.huge, sent.huge)
		}
	}
}
