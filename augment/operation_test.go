package augment

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// draws makes n draws of a policy for images of one size.
func draws(t *testing.T, spec string, n, w, h int) []Draw {
	t.Helper()
	p := mustParse(t, spec)
	all := make([]Draw, n)
	for i := range all {
		key := fmt.Sprint("picture ", i)
		partners := make([]Partner, p.Partners(11, key, 1))
		for k := range partners {
			partners[k].Width, partners[k].Height = h, w+k
		}
		all[i] = p.DrawMixed(11, key, 1, w, h, nil, partners)
	}
	return all
}

// sample is a spec of each operation for which there is one, with its least and
// its most where that matters.
var sampleSpecs = []string{
	"random_resized_crop:224x160,scale=0.000001-1,ratio=0.000001-1000000", "random_resized_crop:1,scale=1,ratio=5", "random_crop:300x20,7/400",
	"center_crop:100x300", "pad:300/20,7", "iou_crop:0/1/0.5,0.000001-1,0.000001-1000000,1000", "resize:97", "resize:300x1", "hflip", "vflip:1", "rotate:360000,expand=false", "rotate:45,bicubic,true,ff8000",
	"affine:360000,1,0.0001-10000,89/89", "perspective:1,p=1", "brightness:0..1000000", "contrast:0.5", "saturation:1", "hue:0.5", "color_jitter:999999,1,2,0.5",
	"gamma:0-100,100", "grayscale", "invert", "posterize:0-8,1", "solarize:0-256,1", "equalize", "autocontrast", "sharpness:0-1000000,1",
	"gaussian_blur:255/1,0.001-1000", "gaussian_noise:0-10,10", "random_erasing:1,0.000001-1,0.000001-1000000,random", "jpeg:1-100",
	"auto_augment", "auto_augment:cifar10", "auto_augment:svhn", "rand_augment:5,30", "rand_augment:5,999,bins=1000", "trivial_augment", "trivial_augment:2",
	"mixup:0.001", "vflip|cutmix:1000|hflip", "cutmix", "mosaic:2", "resize:30|mosaic:300,p=0.5",
	"one_of(hflip|vflip)", "some_of:0-2(hflip:1|vflip:1)", "sequence:0.5(hflip|vflip)",
}

// TestDrawnStepsAreValid draws within the limits of all operations, for images
// of odd sizes: no step may be one that its type refuses.
func TestDrawnStepsAreValid(t *testing.T) {
	tested := map[string]bool{}
	for _, spec := range sampleSpecs {
		name, _, _ := strings.Cut(spec, ":")
		name, _, _ = strings.Cut(name, "(")
		tested[name] = true
		for _, size := range [][2]int{{1, 1}, {1, 500}, {500, 1}, {2, 3}, {500, 375}, {20000, 30}} {
			for _, d := range draws(t, spec, 60, size[0], size[1]) {
				w, h := size[0], size[1]
				for _, s := range d.Steps {
					if err := steps.Validate(s); err != nil {
						t.Errorf("%s for %v drew %s: %v", spec, size, drawJSON(t, d), err)
					}
					if c, ok := s.(ResizedCrop); ok && (c.X < 0 || c.Y < 0 || c.X+c.W > w || c.Y+c.H > h) {
						t.Errorf("%s for %dx%d drew the box %+v", spec, w, h, c)
					}
					w, h = steps.Size(s, w, h)
				}
				if gotW, gotH := d.Size(size[0], size[1]); gotW != w || gotH != h {
					t.Errorf("%s: size %dx%d, want %dx%d", spec, gotW, gotH, w, h)
				}
			}
		}
	}
	for _, o := range Operations() {
		if !tested[o.Name] {
			t.Errorf("no spec tests %s", o.Name)
		}
		for i, p := range o.Parameters {
			if p.About == "" || p.Allowed == "" || p.Name == "" {
				t.Errorf("%s: parameter %d is not described: %+v", o.Name, i, p)
			}
		}
	}
}

func TestRandomResizedCropIsTorchvisions(t *testing.T) {
	const n, w, h = 4000, 500, 375
	var area, logRatio float64
	for _, d := range draws(t, "random_resized_crop:224,scale=0.2-0.5", n, w, h) {
		c := d.Steps[0].(ResizedCrop)
		if c.Width != 224 || c.Height != 224 || c.Filter != Bilinear || !c.Antialias {
			t.Fatalf("%+v", c)
		}
		share, ratio := float64(c.W*c.H)/(w*h), float64(c.W)/float64(c.H)
		if share < 0.199 || share > 0.501 || ratio < 0.745 || ratio > 1.345 {
			t.Errorf("%+v: share %v, ratio %v", c, share, ratio)
		}
		area += share
		logRatio += math.Log(ratio)
	}
	// Boxes of those shares always fit but for a few wide and tall ones.
	imagetest.Within(t, "mean share", area/n, 0.35, 0.006)
	imagetest.Within(t, "mean logarithm of the ratio", logRatio/n, 0, 0.012)
}

// TestRandomResizedCropFallsBack: where no box of the wanted shape can be had,
// the largest one in the middle is taken.
func TestRandomResizedCropFallsBack(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want ResizedCrop // its box
	}{
		{1000, 10, ResizedCrop{X: 493, Y: 0, W: 13, H: 10}},
		{10, 1000, ResizedCrop{X: 0, Y: 493, W: 10, H: 13}},
		{1, 1000, ResizedCrop{X: 0, Y: 499, W: 1, H: 1}},
	} {
		got := draws(t, "random_resized_crop:8,scale=1", 1, c.w, c.h)[0].Steps[0].(ResizedCrop)
		if got.X != c.want.X || got.Y != c.want.Y || got.W != c.want.W || got.H != c.want.H {
			t.Errorf("%dx%d: %+v, want the box of %+v", c.w, c.h, got, c.want)
		}
	}
}

func TestCropsAreTorchvisions(t *testing.T) {
	// Along a side the crop may begin anywhere from -padding on.
	for _, c := range []struct {
		spec             string
		w, h             int
		x0, x1, y0, y1   int
		cropWide, cropHi int
	}{
		{"random_crop:32,4", 32, 32, -4, 4, -4, 4, 32, 32},
		{"random_crop:32x30,1/2", 40, 30, -1, 9, -2, 2, 32, 30},
		{"pad:4/8", 10, 20, -4, -4, -8, -8, 18, 36},
		{"random_crop:10", 8, 8, -2, 0, -2, 0, 10, 10}, // 2 on both sides, as pad_if_needed
		{"random_crop:10,1", 7, 30, -2, -1 + 0, -1, 21, 10, 10},
		{"center_crop:4", 9, 8, 2, 2, 2, 2, 4, 4},
		{"center_crop:8", 9, 3, 0, 0, -2, -2, 8, 8},
	} {
		minX, maxX, minY, maxY := 1000, -1000, 1000, -1000
		for _, d := range draws(t, c.spec, 600, c.w, c.h) {
			b := d.Steps[0].(CropBox)
			if b.W != c.cropWide || b.H != c.cropHi {
				t.Fatalf("%s: %+v", c.spec, b)
			}
			minX, maxX, minY, maxY = min(minX, b.X), max(maxX, b.X), min(minY, b.Y), max(maxY, b.Y)
		}
		if minX != c.x0 || maxX != c.x1 || minY != c.y0 || maxY != c.y1 {
			t.Errorf("%s of %dx%d: x %d..%d, y %d..%d, want %d..%d, %d..%d", c.spec, c.w, c.h, minX, maxX, minY, maxY, c.x0, c.x1, c.y0, c.y1)
		}
	}
}

func TestResizeTargets(t *testing.T) {
	for _, c := range []struct {
		spec         string
		w, h         int
		wantW, wantH int
	}{
		{"resize:256", 500, 375, 341, 256},
		{"resize:256", 375, 500, 256, 341},
		{"resize:256x256", 500, 375, 256, 256},
		{"resize:64x48", 500, 375, 64, 48},
	} {
		if w, h := draws(t, c.spec, 1, c.w, c.h)[0].Size(c.w, c.h); w != c.wantW || h != c.wantH {
			t.Errorf("%s of %dx%d: %dx%d, want %dx%d", c.spec, c.w, c.h, w, h, c.wantW, c.wantH)
		}
	}
}

func TestProbabilities(t *testing.T) {
	const n = 4000
	for spec, want := range map[string]float64{
		"hflip": 0.5, "vflip:0.25": 0.25, "grayscale": 0.1, "hflip:0": 0, "hflip:1": 1, "rotate:5": 1, "posterize:4": 0.5,
		"sequence:0.5(hflip:1)": 0.5, "one_of(hflip:1|hflip:0)": 0.5, "one_of:0.5(hflip:0.5|hflip:0.5)": 0.25, "some_of:1(hflip:1|hflip:0|hflip:0|hflip:0)": 0.25,
	} {
		done := 0
		for _, d := range draws(t, spec, n, 50, 50) {
			done += len(d.Steps)
		}
		imagetest.Within(t, spec, float64(done)/n, want, 4*math.Sqrt(want*(1-want)/n))
	}
}

func TestSomeOf(t *testing.T) {
	const n = 6000
	counts := map[string]int{}
	for _, d := range draws(t, "some_of:2(hflip:1|vflip:1|invert:1)", n, 50, 50) {
		var ops []string
		for _, s := range d.Steps {
			ops = append(ops, steps.Op(s))
		}
		counts[strings.Join(ops, " ")]++
	}
	if len(counts) != 3 {
		t.Fatalf("subsets: %v", counts)
	}
	for _, pair := range []string{"hflip vflip", "hflip invert", "vflip invert"} {
		imagetest.Within(t, pair, float64(counts[pair])/n, 1.0/3, 4*math.Sqrt(2.0/9/n))
	}
	sizes := map[int]int{}
	for _, d := range draws(t, "some_of:0-2(hflip:1|vflip:1)", n, 50, 50) {
		sizes[len(d.Steps)]++
	}
	for size := range 3 {
		imagetest.Within(t, fmt.Sprint("draws of ", size), float64(sizes[size])/n, 1.0/3, 4*math.Sqrt(2.0/9/n))
	}
}

func TestColorJitter(t *testing.T) {
	const n = 24000
	orders := map[string]int{}
	var hue, brightness float64
	for _, d := range draws(t, "color_jitter:0.4,0.3,0.2,0.1", n, 50, 50) {
		var order string
		for _, s := range d.Steps {
			order += steps.Op(s)[:1]
			switch s := s.(type) {
			case Hue:
				hue += s.Factor
				if math.Abs(s.Factor) > 0.1 {
					t.Fatalf("%+v", s)
				}
			case Brightness:
				brightness += s.Factor
				if s.Factor < 0.6 || s.Factor > 1.4 {
					t.Fatalf("%+v", s)
				}
			}
		}
		orders[order]++
	}
	if len(orders) != 24 {
		t.Errorf("%d orders of 24: %v", len(orders), orders)
	}
	for order, count := range orders {
		imagetest.Within(t, order, float64(count)/n, 1.0/24, 5*math.Sqrt(1.0/24/n))
	}
	imagetest.Within(t, "mean hue", hue/n, 0, 0.002)
	imagetest.Within(t, "mean brightness", brightness/n, 1, 0.007)
	for _, d := range draws(t, "color_jitter:contrast=0.5", 10, 50, 50) {
		if len(d.Steps) != 1 || steps.Op(d.Steps[0]) != "contrast" {
			t.Errorf("contrast alone drew %s", drawJSON(t, d))
		}
	}
}

func TestRandomErasing(t *testing.T) {
	const w, h = 200, 100
	var share float64
	all := draws(t, "random_erasing:1,value=ff8000", 2000, w, h)
	for _, d := range all {
		e := d.Steps[0].(Erase)
		if e.X < 0 || e.Y < 0 || e.X+e.W > w || e.Y+e.H > h || e.W >= w || e.H >= h || e.Noise || e.Value != [3]uint8{255, 128, 0} {
			t.Fatalf("%+v", e)
		}
		if r := float64(e.H) / float64(e.W); r < 0.28 || r > 3.5 {
			t.Errorf("%+v: ratio %v", e, r)
		}
		share += float64(e.W*e.H) / (w * h)
	}
	// Tall boxes of large areas don't fit, so that the mean is below 0.175.
	imagetest.Within(t, "mean share", share/float64(len(all)), 0.16, 0.015)
	if d := draws(t, "random_erasing:1", 1, 1, 1)[0]; len(d.Steps) != 0 {
		t.Errorf("a box fits into an image of one pixel: %s", drawJSON(t, d))
	}
	seeds := map[uint64]bool{}
	for _, d := range draws(t, "random_erasing:1,value=random", 100, w, h) {
		e := d.Steps[0].(Erase)
		if !e.Noise || e.Seed >= 1<<53 {
			t.Fatalf("%+v", e)
		}
		seeds[e.Seed] = true
	}
	if len(seeds) != 100 {
		t.Errorf("%d seeds of 100", len(seeds))
	}
}

func TestAffineIsTorchvisions(t *testing.T) {
	minX, maxX, maxY := 0, 0, 0
	for _, d := range draws(t, "affine:10-20,0.1/0.05,0.5-2,shear=5/-3..-1", 3000, 200, 100) {
		a := d.Steps[0].(Affine)
		minX, maxX, maxY = min(minX, a.Translate[0]), max(maxX, a.Translate[0]), max(maxY, a.Translate[1])
		if a.Angle < 10 || a.Angle > 20 || a.Scale < 0.5 || a.Scale > 2 || math.Abs(a.Shear[0]) > 5 || a.Shear[1] < -3 || a.Shear[1] > -1 || a.Corner || a.Filter != Nearest {
			t.Fatalf("%+v", a)
		}
	}
	if minX != -20 || maxX != 20 || maxY != 5 {
		t.Errorf("moved by %d..%d and up to %d", minX, maxX, maxY)
	}
}
