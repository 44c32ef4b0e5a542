package operation

import (
	"fmt"
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestMagnitudesAreTorchvisions compares all changes at some bins with numbers
// that were worked out from torchvision's ranges by hand.
func TestMagnitudesAreTorchvisions(t *testing.T) {
	const w, h = 500, 375
	degrees := func(tangent float64) float64 { return math.Atan(tangent) * 180 / math.Pi }
	for _, c := range []struct {
		space change
		what  changeSpace
		bins  int
		bin   int
		want  steps.Step // for the positive direction
	}{
		{changeShearX, usualSpace, 10, 5, steps.Affine{Scale: 1, Shear: [2]float64{degrees(0.3 * 5 / 9), 0}, Corner: true, Filter: resample.Nearest}},
		{changeShearY, wideSpace, 31, 30, steps.Affine{Scale: 1, Shear: [2]float64{0, degrees(0.99)}, Corner: true, Filter: resample.Nearest}},
		{changeTranslateX, usualSpace, 10, 9, steps.Affine{Scale: 1, Translate: [2]int{226, 0}, Filter: resample.Nearest}}, // 226.586
		{changeTranslateY, usualSpace, 31, 9, steps.Affine{Scale: 1, Translate: [2]int{0, 50}, Filter: resample.Nearest}},  // 50.982
		{changeTranslateX, wideSpace, 31, 15, steps.Affine{Scale: 1, Translate: [2]int{16, 0}, Filter: resample.Nearest}},
		{changeRotate, usualSpace, 31, 9, steps.Rotate{Angle: 9, Filter: resample.Nearest}},
		{changeRotate, wideSpace, 31, 30, steps.Rotate{Angle: 135, Filter: resample.Nearest}},
		{changeBrightness, usualSpace, 10, 9, steps.Brightness{Factor: 1.9}},
		{changeColor, usualSpace, 31, 9, steps.Saturation{Factor: 1.27}},
		{changeContrast, wideSpace, 31, 30, steps.Contrast{Factor: 1.99}},
		{changeSharpness, usualSpace, 10, 0, steps.Sharpness{Factor: 1}},
		{changePosterize, usualSpace, 10, 8, steps.Posterize{Bits: 4}}, // 8 - 3.56
		{changePosterize, usualSpace, 10, 5, steps.Posterize{Bits: 6}}, // 8 - 2.22
		{changePosterize, wideSpace, 31, 30, steps.Posterize{Bits: 2}},
		{changePosterize, wideSpace, 31, 12, steps.Posterize{Bits: 6}}, // 8 - 2.4
		{changeSolarize, usualSpace, 10, 3, steps.Solarize{Threshold: 170}},
		{changeSolarize, usualSpace, 31, 9, steps.Solarize{Threshold: 178.5}},
		{changeSolarize, wideSpace, 31, 0, steps.Solarize{Threshold: 255}},
		{changeAutoContrast, usualSpace, 10, 0, steps.AutoContrast{}},
		{changeEqualize, usualSpace, 10, 0, steps.Equalize{}},
		{changeInvert, usualSpace, 10, 0, steps.Invert{}},
		{changeNothing, usualSpace, 10, 0, nil},
	} {
		directions := map[string]int{}
		for i := range 400 {
			d := Drawing{random: RandomFor(1, fmt.Sprint(i), 0), Width: w, Height: h}
			ch := changer{changeSpace: c.what, bins: c.bins, filter: resample.Nearest}.to(&d)
			ch.add(&d, c.space, c.bin)
			directions[sameStep(t, c.want, d.Steps)]++
		}
		signed := c.space.signed() && c.bin > 0
		if directions["other"] > 0 || (directions["negative"] > 0) != signed {
			t.Errorf("change %d, bin %d of %d: %v, want %v", c.space, c.bin, c.bins, directions, c.want)
		}
		if signed {
			imagetest.Within(t, "share of the negative direction", float64(directions["negative"])/400, 0.5, 0.1)
		}
	}
}

// sameStep says whether the steps are the wanted one, or its negative.
func sameStep(t *testing.T, want steps.Step, list []steps.Step) string {
	t.Helper()
	if want == nil && len(list) == 0 {
		return "same"
	}
	if want == nil || len(list) != 1 {
		return "other"
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	for sign, name := range map[float64]string{1: "same", -1: "negative"} {
		ok := false
		switch got := list[0].(type) {
		case steps.Affine:
			w, is := want.(steps.Affine)
			ok = is && near(got.Shear[0], sign*w.Shear[0]) && near(got.Shear[1], sign*w.Shear[1]) &&
				got.Translate == [2]int{int(sign) * w.Translate[0], int(sign) * w.Translate[1]}
			got.Shear, got.Translate, w.Shear, w.Translate = [2]float64{}, [2]int{}, [2]float64{}, [2]int{}
			ok = ok && got == w
		case steps.Rotate:
			w, is := want.(steps.Rotate)
			ok = is && near(got.Angle, sign*w.Angle) && got.Filter == w.Filter
		case steps.Brightness:
			w, is := want.(steps.Brightness)
			ok = is && near(got.Factor-1, sign*(w.Factor-1))
		case steps.Saturation:
			w, is := want.(steps.Saturation)
			ok = is && near(got.Factor-1, sign*(w.Factor-1))
		case steps.Contrast:
			w, is := want.(steps.Contrast)
			ok = is && near(got.Factor-1, sign*(w.Factor-1))
		case steps.Solarize:
			w, is := want.(steps.Solarize)
			ok = is && sign > 0 && near(got.Threshold, w.Threshold)
		default:
			ok = sign > 0 && got == want
		}
		if ok {
			return name
		}
	}
	return "other"
}

// TestAutoAugmentTables holds some of each policy, and what all of them are
// within.
func TestAutoAugmentTables(t *testing.T) {
	for i, pairs := range autoAugmentPolicies {
		if len(pairs) != 25 {
			t.Errorf("%s has %d pairs, want 25", autoAugmentNames[i], len(pairs))
		}
		for _, pair := range pairs {
			for _, l := range pair {
				if l.p < 0 || l.p > 1 || l.bin < 0 || l.bin >= autoAugmentBins || l.what == changeNothing {
					t.Errorf("%s: %+v", autoAugmentNames[i], l)
				}
			}
		}
	}
	// Shares of pairs with each change, as torchvision's tables have them.
	for _, c := range []struct {
		policy int
		what   change
		want   int
	}{
		{0, changeEqualize, 17}, {0, changePosterize, 5}, {0, changeRotate, 6}, {0, changeInvert, 3},
		{1, changeEqualize, 9}, {1, changeTranslateY, 5}, {1, changeSharpness, 5}, {1, changeAutoContrast, 7},
		{2, changeInvert, 12}, {2, changeShearX, 6}, {2, changeShearY, 8}, {2, changeTranslateY, 4},
	} {
		got := 0
		for _, pair := range autoAugmentPolicies[c.policy] {
			for _, l := range pair {
				if l.what == c.what {
					got++
				}
			}
		}
		if got != c.want {
			t.Errorf("%s has change %d %d times, want %d", autoAugmentNames[c.policy], c.what, got, c.want)
		}
	}
}

func TestDegreesOf(t *testing.T) {
	for i := -1000; i <= 1000; i++ {
		x := float64(i) / 1000
		imagetest.Within(t, fmt.Sprint("angle of ", x), degreesOf(x), math.Atan(x)*180/math.Pi, 4e-14)
	}
}
