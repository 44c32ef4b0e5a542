package steps

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// stepSamples has each step at least once, with parameters that do something,
// and that images of any size can take.
var stepSamples = []struct {
	name string
	step Step
}{
	{"crop", CropBox{X: -3, Y: -2, W: 20, H: 30, Fill: [3]uint8{9, 99, 199}}},
	{"resized_crop", ResizedCrop{W: 1, H: 1, Width: 7, Height: 5, Filter: resample.Bicubic, Antialias: true}},
	{"resize", ResizeTo{Width: 12, Height: 31, Antialias: true}},
	{"hflip", HFlip{}},
	{"vflip", VFlip{}},
	{"rotate nearest", Rotate{Angle: 33, Filter: resample.Nearest, Fill: [3]uint8{1, 2, 3}}},
	{"rotate bilinear", Rotate{Angle: -71.5, Fill: [3]uint8{1, 2, 3}}},
	{"rotate bicubic", Rotate{Angle: 120, Filter: resample.Bicubic, Expand: true}},
	{"rotate 90", Rotate{Angle: 90, Expand: true}},
	{"affine", Affine{Angle: 7, Translate: [2]int{2, -1}, Scale: 1.2, Shear: [2]float64{5, -12}, Filter: resample.Nearest}},
	{"affine scale", Affine{Scale: 0.7, Corner: true, Filter: resample.Nearest}},
	{"perspective nearest", Perspective{Corners: [4][2]int{{1, 2}, {30, -1}, {28, 25}, {3, 20}}, Filter: resample.Nearest}},
	{"perspective bilinear", Perspective{Corners: [4][2]int{{0, 0}, {15, 3}, {17, 33}, {-2, 30}}}},
	{"perspective bicubic", Perspective{Corners: [4][2]int{{9, 0}, {1, 3}, {0, 22}, {11, 16}}, Filter: resample.Bicubic}},
	{"brightness", Brightness{Factor: 1.4}},
	{"contrast", Contrast{Factor: 0.6}},
	{"saturation", Saturation{Factor: 1.7}},
	{"hue", Hue{Factor: -0.2}},
	{"gamma", Gamma{Gamma: 1.5, Gain: 1}},
	{"grayscale", Grayscale{}},
	{"invert", Invert{}},
	{"posterize", Posterize{Bits: 3}},
	{"solarize", Solarize{Threshold: 99.5}},
	{"equalize", Equalize{}},
	{"autocontrast", AutoContrast{}},
	{"sharpness", Sharpness{Factor: 2.2}},
	{"gaussian_blur", GaussianBlur{Kernel: [2]int{23, 23}, Sigma: [2]float64{1.5, 2.5}}},
	{"gaussian_noise", GaussianNoise{Mean: 0.01, Sigma: 0.1, Seed: math.MaxUint64}},
	{"erase", Erase{X: -1, Y: 2, W: 9, H: 11, Value: [3]uint8{200, 100, 50}}},
	{"erase noise", Erase{X: 1, Y: 0, W: 5, H: 30, Noise: true, Seed: 12}},
	{"jpeg", JPEGArtefacts{Quality: 40}},
}

func testScratch(t *testing.T) *workspace.Scratch {
	t.Helper()
	codec, err := imagefile.NewCodec(imagefile.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	return &workspace.Scratch{Codec: codec}
}

// For every size, padding between rows and reused memory, a step makes the same bytes, of the size
// that it announces, and does not change its source.
func TestStepSizes(t *testing.T) {
	scratch := testScratch(t)
	used := imagetest.Noise(50, 50, 3)
	for _, c := range stepSamples {
		for _, size := range [][2]int{{1, 1}, {1, 40}, {40, 1}, {2, 2}, {2, 3}, {3, 3}, {17, 33}, {70, 5}} {
			for _, channels := range []int{1, 3} {
				name := fmt.Sprintf("%s of %dx%dx%d", c.name, size[0], size[1], channels)
				src := imagetest.Noise(size[0], size[1], channels)
				var first bitmap.Image
				if err := c.step.apply(&first, src, &workspace.Scratch{Codec: scratch.Codec}); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				w, h := c.step.size(size[0], size[1])
				if first.Width != w || first.Height != h || first.Channels != channels || bitmap.CheckImage(&first) != nil {
					t.Errorf("%s: %dx%dx%d, said to be %dx%d", name, first.Width, first.Height, first.Channels, w, h)
				}
				wide := imagetest.Spaced(src, 5)
				before := slices.Clone(wide.Pix)
				if err := c.step.apply(used, wide, scratch); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if !bytes.Equal(bitmap.AppendRaw(nil, used), bitmap.AppendRaw(nil, &first)) {
					t.Errorf("%s: other bytes with a stride and used memory", name)
				}
				if !bytes.Equal(wide.Pix, before) {
					t.Errorf("%s: changed its source", name)
				}
			}
		}
	}
}

// An image of three equal channels becomes what the grayscale one does.
func TestStepGrayLikeRGB(t *testing.T) {
	gray := imagetest.Noise(31, 22, 1)
	var rgb bitmap.Image
	if err := recolor.ToRGB(&rgb, gray); err != nil {
		t.Fatal(err)
	}
	for _, c := range stepSamples {
		switch c.step.(type) {
		case GaussianNoise, JPEGArtefacts:
			continue // three channels have noise, and an encoding, of their own
		case Erase, CropBox, Rotate:
			continue // colours
		}
		var one, three, want bitmap.Image
		if err := c.step.apply(&one, gray, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.step.apply(&three, &rgb, nil); err != nil {
			t.Fatal(err)
		}
		if err := recolor.ToRGB(&want, &one); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(three.Pix, want.Pix) {
			t.Errorf("%s: gray as RGB becomes something else", c.name)
		}
	}
}

func TestStepHuge(t *testing.T) {
	race.Skip(t)
	scratch := testScratch(t)
	long, tall := imagetest.Noise(70_000, 1, 3), imagetest.Noise(1, 70_000, 1)
	var dst bitmap.Image
	for _, c := range stepSamples {
		for _, src := range []*bitmap.Image{long, tall} {
			err := c.step.apply(&dst, src, scratch)
			switch s := c.step.(type) {
			case JPEGArtefacts:
				if err == nil {
					t.Errorf("%s: no error for a side of 70000", c.name)
				}
				continue
			case Rotate:
				if s.Expand {
					if err == nil || !strings.Contains(err.Error(), "pixels in all") {
						t.Errorf("%s: %v, want an error about the size", c.name, err)
					}
					continue
				}
			}
			if err != nil {
				t.Errorf("%s of %dx%d: %v", c.name, src.Width, src.Height, err)
			}
		}
	}
}

func TestStepAllocates(t *testing.T) {
	src := imagetest.Noise(40, 30, 3)
	for _, c := range stepSamples {
		if _, ok := c.step.(JPEGArtefacts); ok {
			continue // the codec's business
		}
		var dst bitmap.Image
		var scratch workspace.Scratch
		var step Step = c.step
		if n := testing.AllocsPerRun(20, func() {
			if err := step.apply(&dst, src, &scratch); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations an image", c.name, n)
		}
	}
}

func TestStepRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	src := imagetest.Noise(8, 6, 3)
	for _, c := range []struct {
		step Step
		err  string
	}{
		{CropBox{W: 0, H: 3}, "crop: a box of 0x3 pixels"},
		{CropBox{X: math.MinInt, W: 3, H: 3}, "is too far away"},
		{CropBox{W: bitmap.MaxSide + 1, H: 1}, "crop to 65536x1 pixels: want sides of 1 to 65535"},
		{CropBox{W: bitmap.MaxSide, H: bitmap.MaxSide}, "at most 178956970 pixels"},
		{ResizedCrop{W: 9, H: 6, Width: 3, Height: 3}, "the box 9x6 at 0,0 isn't within the image of 8x6"},
		{ResizedCrop{X: -1, W: 3, H: 3, Width: 3, Height: 3}, "isn't within the image"},
		{ResizedCrop{W: 3, H: 3, Width: 3}, "resized_crop to 3x0 pixels"},
		{ResizedCrop{W: 3, H: 3, Width: 3, Height: 3, Filter: 77}, "unknown filter"},
		{ResizeTo{Width: -3, Height: 3}, "resize to -3x3 pixels"},
		{ResizeTo{Width: 3, Height: 3, Filter: 77}, "unknown filter"},
		{Rotate{Angle: nan}, "rotate: angle NaN"},
		{Rotate{Angle: inf}, "rotate: angle +Inf"},
		{Rotate{Filter: resample.Lanczos3}, "rotate: filter lanczos3: want nearest, bilinear or bicubic"},
		{Affine{Scale: 0}, "affine: scale 0: want 0.0001 to 10000"},
		{Affine{Scale: nan}, "affine: scale NaN"},
		{Affine{Scale: 1, Angle: -inf}, "affine: angle -Inf"},
		{Affine{Scale: 1, Shear: [2]float64{0, 90}}, "shear 90 along y: want more than -90"},
		{Affine{Scale: 1, Shear: [2]float64{nan, 0}}, "shear NaN along x"},
		{Affine{Scale: 1, Translate: [2]int{0, math.MaxInt}}, "too far"},
		{Affine{Scale: 1, Filter: resample.Area}, "affine: filter area"},
		{Perspective{}, "perspective: corners [[0 0] [0 0] [0 0] [0 0]]: want those of a convex quadrilateral"},
		{Perspective{Corners: [4][2]int{{0, 0}, {9, 9}, {9, 0}, {0, 9}}}, "want those of a convex quadrilateral"},
		{Perspective{Corners: [4][2]int{{5, 5}, {9, 0}, {9, 9}, {0, 9}}}, "want those of a convex quadrilateral"},
		{Perspective{Corners: [4][2]int{{6, 6}, {9, 0}, {9, 9}, {0, 9}}}, "want those of a convex quadrilateral"},
		{Perspective{Corners: [4][2]int{{25, 50}, {75, 50}, {100, 100}, {0, 100}}}, "the top left corner of the result is on the horizon"},
		{Perspective{Corners: [4][2]int{{0, 0}, {math.MaxInt, 0}, {9, 9}, {0, 9}}}, "want -1e+06 to 1e+06"},
		{Perspective{Corners: [4][2]int{{0, 0}, {9, 0}, {9, 9}, {0, 9}}, Filter: resample.Area}, "perspective: filter area"},
		{Brightness{Factor: -0.1}, "brightness: factor -0.1: want 0 to 1e+06"},
		{Contrast{Factor: nan}, "contrast: factor NaN"},
		{Saturation{Factor: inf}, "saturation: factor +Inf"},
		{Sharpness{Factor: -1}, "sharpness: factor -1"},
		{Hue{Factor: 0.51}, "hue: factor 0.51: want -0.5 to 0.5"},
		{Gamma{Gamma: -1, Gain: 1}, "gamma: gamma -1"},
		{Gamma{Gamma: 1, Gain: nan}, "gamma: gain NaN"},
		{Posterize{Bits: 9}, "posterize: 9 bits: want 0 to 8"},
		{Solarize{Threshold: 257}, "solarize: threshold 257"},
		{GaussianBlur{Kernel: [2]int{3, 4}, Sigma: [2]float64{1, 1}}, "a kernel of 4 pixels: want an odd number"},
		{GaussianBlur{Kernel: [2]int{3, 257}, Sigma: [2]float64{1, 1}}, "a kernel of 257 pixels"},
		{GaussianBlur{Kernel: [2]int{3, 3}, Sigma: [2]float64{1, 0}}, "gaussian_blur: sigma 0"},
		{GaussianNoise{Sigma: -1}, "gaussian_noise: sigma -1"},
		{GaussianNoise{Mean: nan}, "gaussian_noise: mean NaN"},
		{Erase{W: 1}, "erase: a box of 1x0 pixels"},
		{JPEGArtefacts{}, "jpeg: quality 0: want 1 to 100"},
		{JPEGArtefacts{Quality: 50}, "set Scratch.Codec"},
	} {
		dst := bitmap.Image{Width: 77}
		err := c.step.apply(&dst, src, nil)
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: error %v, want one that says %q", c.step, err, c.err)
		}
	}
	for _, c := range stepSamples {
		if err := c.step.apply(src, src, nil); err == nil {
			t.Errorf("%s: done onto its source", c.name)
		}
		if err := c.step.apply(new(bitmap.Image), &bitmap.Image{Width: 4, Height: 4, Channels: 3, Stride: 12}, nil); err == nil {
			t.Errorf("%s: done to an image without pixels", c.name)
		}
	}
}
