//go:build interop

package interop

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// objectsAnswer is an image as objects.py answers it.
type objectsAnswer struct {
	Boxes  []float32 `json:"boxes"`
	Pixels []float32 `json:"pixels"`
	Labels []int64   `json:"labels"`
}

// The objects of stretched and mirrored images are those of parse_single_example, in both units.
func TestObjectsAreThoseOfTensorFlow(t *testing.T) {
	ask := startScript(t, *python, "objects.py")
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 34))
		w, h, most, flip := 1+rnd.IntN(99), 1+rnd.IntN(99), 1+rnd.IntN(5), rnd.IntN(2) == 0
		var records [][]byte
		for range 1 + rnd.IntN(12) {
			im := &augment.Image{}
			im.Reset(1+rnd.IntN(50), 1+rnd.IntN(50), 3)
			data, err := augment.AppendPNG(nil, im)
			if err != nil {
				t.Fatal(err)
			}
			var b tfrecord.Builder
			b.Bytes(reader.DefaultImageKey, data)
			var sides [4][]float32
			var labels []int64
			for range rnd.IntN(8) {
				x, y := rnd.Float32()/2, rnd.Float32()/2
				for i, v := range []float32{y, x, y + 0.01 + rnd.Float32()/2.1, x + 0.01 + rnd.Float32()/2.1} {
					sides[i] = append(sides[i], v)
				}
				labels = append(labels, rnd.Int64N(90))
			}
			for i, side := range []string{"ymin", "xmin", "ymax", "xmax"} {
				b.Float("image/object/bbox/"+side, sides[i]...)
			}
			b.Int64("image/object/class/label", labels...)
			records = append(records, b.Append(nil))
		}
		var want []objectsAnswer
		ask(t, map[string]any{"path": writeFile(t, tfrecord.CompressionNone, records), "width": w, "height": h, "flip": flip, "most": most}, &want)
		spec := reader.ImageSpec{Resize: augment.ResizeSpec{Width: w, Height: h, NoAntialias: true}}
		if flip {
			var err error
			if spec.Policy, err = augment.ParsePolicy("hflip:1"); err != nil {
				t.Fatal(err)
			}
		}
		spec.Objects = &columns.ObjectSpec{MaxBoxes: most, Format: columns.YXYX, Relative: true}
		shares := imageBatches(t, spec, records...)
		spec.Objects = &columns.ObjectSpec{MaxBoxes: most}
		pixels := imageBatches(t, spec, records...)
		var got []objectsAnswer
		for i, b := range shares {
			got = append(got, objectsAnswer{b.Objects.Boxes, pixels[i].Objects.Boxes, b.Objects.Labels})
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 1e-5)); diff != "" {
			t.Fatalf("seed %d: (-TensorFlow +reader)\n%s", seed, diff)
		}
	}
}
