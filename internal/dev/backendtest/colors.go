package backendtest

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// Colors holds a backend to the CPU for every colour there is, where a colour step has
// floating-point arithmetic on whole pixels.
func Colors(t *testing.T, b augment.Backend) {
	r := random(7)
	for high := range 16 {
		im := new(augment.Image)
		im.Reset(1024, 1024, 3)
		for i := range 1 << 20 {
			p := im.Pix[3*i : 3*i+3]
			p[0], p[1], p[2] = uint8(high<<4|i>>16), uint8(i>>8), uint8(i)
		}
		for _, s := range []augment.Step{augment.Hue{Factor: r.Float64() - 0.5}, augment.Saturation{Factor: 3 * r.Float64()}} {
			task := &augment.Task{Image: im, Draw: augment.Draw{Steps: []augment.Step{s}}}
			if err := b.Render([]*augment.Task{task}); err != nil {
				t.Fatal(err)
			}
			if fault := Compare(task); fault != "" {
				t.Fatalf("%s\n%s", fault, Describe(task))
			}
		}
	}
}
