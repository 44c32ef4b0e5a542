//go:build interop

package interop

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// framesAnswer is a batch as frames.py answers it.
type framesAnswer struct {
	Shape   []int     `json:"shape"`
	Labels  []int64   `json:"labels"`
	Lengths []int64   `json:"lengths"`
	Actions []float32 `json:"actions"`
}

// Clips with the actions of their steps are those of parse_single_sequence_example or
// parse_single_example, decode_png and padded_batch.
func TestFramesAreThoseOfTensorFlow(t *testing.T) {
	ask := startScript(t, *python, "frames.py")
	padded := 0
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 33))
		w, h, c := 1+rnd.IntN(9), 1+rnd.IntN(9), 1+2*rnd.IntN(2)
		spec := reader.ImageSpec{
			Resize: augment.ResizeSpec{Width: w, Height: h, NoAntialias: true}, Channels: c, Batch: 1 + rnd.IntN(5),
			Steps: columns.ListSteps, Frames: []int{columns.Longest, 6}[rnd.IntN(2)],
		}
		form := "list"
		if rnd.IntN(2) == 0 {
			spec.Steps, form = columns.FlatSteps, "flat"
		}
		spec.Columns = columns.Schema{{Key: "action", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: spec.Steps, Length: spec.Frames}}
		var records [][]byte
		for i := range 1 + rnd.IntN(12) {
			var b tfrecord.SequenceBuilder
			b.Context.Int64(reader.DefaultLabelKey, int64(i))
			var frames [][]byte
			var actions []float32
			b.List(reader.DefaultImageKey)
			b.List("action")
			for range rnd.IntN(7) {
				im := &augment.Image{}
				im.Reset(w, h, c)
				for k := range im.Pix {
					im.Pix[k] = uint8(rnd.Uint32())
				}
				data, err := augment.AppendPNG(nil, im)
				if err != nil {
					t.Fatal(err)
				}
				action := []float32{rnd.Float32(), rnd.Float32()}
				b.Bytes(reader.DefaultImageKey, data)
				b.Float("action", action...)
				frames, actions = append(frames, data), append(actions, action...)
			}
			record := b.Append(nil)
			if form == "flat" {
				var b tfrecord.Builder
				b.Int64(reader.DefaultLabelKey, int64(i))
				b.Bytes(reader.DefaultImageKey, frames...)
				b.Float("action", actions...)
				record = b.Append(nil)
			}
			records = append(records, record)
		}
		samples := filepath.Join(t.TempDir(), "samples")
		var want []framesAnswer
		ask(t, map[string]any{
			"path": writeFile(t, tfrecord.CompressionNone, records), "steps": form, "frames": spec.Frames, "batch": spec.Batch,
			"size": []int{h, w, c}, "samples": samples,
		}, &want)
		got := imageBatches(t, spec, records...)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d batches, TensorFlow %d", seed, len(got), len(want))
		}
		all := readSamples(t, samples)
		for i, b := range got {
			x := &want[i]
			size := x.Shape[0] * x.Shape[1] * h * w * c
			pixels := all[:size]
			all = all[size:]
			if x.Shape[1] == 0 { // TensorFlow pads to no frame where no record has one, we to one
				x.Shape[1] = 1
				pixels, x.Actions = make([]byte, x.Shape[0]*h*w*c), make([]float32, 2*x.Shape[0])
			}
			if x.Shape[1] > int(slices.Min(x.Lengths)) {
				padded++
			}
			actions, err := b.Columns.Floats("action")
			if err != nil {
				t.Fatal(err)
			}
			ours := framesAnswer{Shape: b.Shape, Labels: b.Labels, Lengths: b.Lengths, Actions: actions}
			if diff := cmp.Diff(*x, ours); diff != "" {
				t.Fatalf("seed %d, batch %d: (-TensorFlow +ours)\n%s", seed, i, diff)
			}
			if !slices.Equal(pixels, b.Bytes) {
				t.Fatalf("seed %d, batch %d: other samples than TensorFlow's", seed, i)
			}
		}
	}
	if padded < 20 {
		t.Errorf("only %d batches are padded", padded)
	}
}
