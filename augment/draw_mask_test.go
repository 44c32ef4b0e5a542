package augment

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// TestMaskSteps holds which steps move pixels: a new one must be on either side.
func TestMaskSteps(t *testing.T) {
	moves := []Step{
		CropBox{X: -1, W: 3, H: 4, Fill: [3]uint8{1, 2, 3}}, ResizedCrop{W: 2, H: 2, Width: 4, Height: 4, Antialias: true}, ResizeTo{Width: 3, Height: 3, Antialias: true},
		HFlip{}, VFlip{}, Rotate{Angle: 3, Fill: [3]uint8{1, 2, 3}}, Affine{Angle: 3, Scale: 1, Filter: Bicubic},
		Perspective{Corners: [4][2]int{{1, 2}, {30, 0}, {28, 25}, {3, 20}}, Fill: [3]uint8{1, 2, 3}},
	}
	others := []Step{
		Brightness{}, Contrast{}, Saturation{}, Hue{}, Gamma{}, Grayscale{}, Invert{}, Posterize{}, Solarize{}, Equalize{}, AutoContrast{},
		Sharpness{}, GaussianBlur{}, GaussianNoise{}, Erase{}, JPEGArtefacts{},
	}
	var ops []string
	for _, s := range slices.Concat(moves, others) {
		ops = append(ops, steps.Op(s))
	}
	slices.Sort(ops)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(steps.StepReaders)), ops); diff != "" {
		t.Errorf("steps (-all +here):\n%s", diff)
	}
	for _, s := range moves {
		if _, moved := steps.MoveBox(s, Box{XMin: 1, YMin: 1, XMax: 2, YMax: 2}, 9, 9); !moved {
			t.Errorf("%s leaves boxes where they are", steps.Op(s))
		}
	}
	for _, s := range others {
		if _, moved := steps.MoveBox(s, Box{XMin: 1, YMin: 1, XMax: 2, YMax: 2}, 9, 9); moved {
			t.Errorf("%s moves boxes", steps.Op(s))
		}
	}
	want := []Step{
		CropBox{X: -1, W: 3, H: 4, Fill: [3]uint8{9, 9, 9}}, ResizedCrop{W: 2, H: 2, Width: 4, Height: 4, Filter: Nearest}, ResizeTo{Width: 3, Height: 3, Filter: Nearest},
		HFlip{}, VFlip{}, Rotate{Angle: 3, Filter: Nearest, Fill: [3]uint8{9, 9, 9}}, Affine{Angle: 3, Scale: 1, Filter: Nearest, Fill: [3]uint8{9, 9, 9}},
		Perspective{Corners: [4][2]int{{1, 2}, {30, 0}, {28, 25}, {3, 20}}, Filter: Nearest, Fill: [3]uint8{9, 9, 9}},
	}
	if diff := cmp.Diff(want, Draw{Steps: slices.Concat(moves, others)}.Mask(9).Steps); diff != "" {
		t.Error(diff)
	}
	if fill := [3]uint8{9, 9, 9}; recolor.Shade(&fill, 1)[0] != 9 {
		t.Errorf("9 is filled as %d", recolor.Shade(&fill, 1)[0])
	}
}

// TestMaskFollowsImage draws an image and its mask, both with the same shapes: where the image is
// clearly one or the other afterwards, so is the mask.
func TestMaskFollowsImage(t *testing.T) {
	const w, h, object, background, outside = 90, 70, 200, 20, 255
	var im, mask Image
	im.Reset(w, h, 3)
	mask.Reset(w, h, 1)
	for y := range h {
		for x := range w {
			v := uint8(background)
			if (x-30)*(x-30)+2*(y-25)*(y-25) < 300 || x > 60 && y > 50 {
				v = object
			}
			mask.Row(y)[x] = v
			for c := range 3 {
				im.Row(y)[3*x+c] = v
			}
		}
	}
	for _, text := range []string{
		"hflip|vflip", "random_resized_crop:64,scale=0.3-1|hflip", "random_crop:40|resize:61", "random_crop:100,padding=20",
		"rotate:30", "pad:20/5,fill=20|perspective:0.5,p=1,fill=20", "perspective:p=1|hflip", "affine:20,translate=0.2,scale=0.7-1.3,shear=10|gaussian_noise:0.02", "hflip|rotate:180,p=0.5|center_crop:50|posterize:7,1",
	} {
		t.Run(text, func(t *testing.T) {
			policy, err := ParsePolicy(text)
			if err != nil {
				t.Fatal(err)
			}
			same, all := 0, 0
			for epoch := range 20 {
				draw := policy.Draw(1, "a", epoch, w, h)
				var image, got Image
				if err := draw.Apply(&image, &im, nil); err != nil {
					t.Fatal(err)
				}
				if err := draw.Mask(outside).Apply(&got, &mask, nil); err != nil {
					t.Fatal(err)
				}
				if got.Width != image.Width || got.Height != image.Height || got.Channels != 1 {
					t.Fatalf("a mask of %dx%dx%d for an image of %dx%d", got.Width, got.Height, got.Channels, image.Width, image.Height)
				}
				for y := range got.Height {
					for x, v := range got.Row(y) {
						if v != object && v != background && v != outside {
							t.Fatalf("the mask has %d", v)
						}
						if v == outside {
							continue
						}
						all++
						if sample := image.Row(y)[3*x]; (sample > 110) == (v == object) {
							same++
						}
					}
				}
			}
			if all < 10_000 || float64(same) < 0.985*float64(all) {
				t.Errorf("%d of %d pixels agree", same, all)
			}
			t.Logf("%d of %d pixels agree", same, all)
		})
	}
}
