package augment

import (
	"testing"

	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestRandAugmentChooses: each of the 14 changes as often, n of them.
func TestRandAugmentChooses(t *testing.T) {
	const n = 7000
	ops := map[string]int{}
	total := 0
	for _, d := range draws(t, "rand_augment:3,9", n, 100, 100) {
		if len(d.Steps) > 3 {
			t.Fatalf("%d steps", len(d.Steps))
		}
		for _, s := range d.Steps {
			ops[steps.Op(s)]++
			total++
		}
	}
	imagetest.Within(t, "steps", float64(total)/(3*n), 13.0/14, 0.01) // one of 14 does nothing
	for op, share := range map[string]float64{"affine": 4, "rotate": 1, "brightness": 1, "saturation": 1, "contrast": 1, "sharpness": 1, "posterize": 1, "solarize": 1, "autocontrast": 1, "equalize": 1} {
		imagetest.Within(t, op, float64(ops[op])/(3*n), share/14, 0.012)
	}
	for _, d := range draws(t, "trivial_augment", 500, 100, 100) {
		if len(d.Steps) > 1 {
			t.Fatalf("%d steps", len(d.Steps))
		}
	}
}
