package steps

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// loose are the steps that need not have Pillow's bytes: one in a thousand of their samples may be
// off by one level. The exact value of a blurred sample may be between two levels, and affine's
// matrix depends on the last bit of the C library's tangent. (The goldens here are equal all the
// same, but of 60,000 random cases five are not.)
var loose = map[string]bool{"gaussian_blur": true, "affine": true}

// TestStepGoldens compares the steps with Pillow's bytes.
//
// TFREC_STEP_GOLDENS names a directory of more goldens, such as
// testdata/augment/make_goldens.py --random 5000 FOLDER writes.
func TestStepGoldens(t *testing.T) {
	const dir = "../../../testdata/augment"
	source := imagetest.ReadArray(t, filepath.Join(dir, "source.npy"))
	ops := stepGoldens(t, dir, source)
	for op := range StepReaders {
		if ops[op] < 2 && op != "gaussian_noise" && op != "jpeg" {
			t.Errorf("%d goldens of %s", ops[op], op)
		}
	}
	if more := os.Getenv("TFREC_STEP_GOLDENS"); more != "" {
		stepGoldens(t, more, source)
	}
}

func stepGoldens(t *testing.T, dir string, source imagetest.Array) map[string]int {
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	goldens, err := os.ReadFile(filepath.Join(dir, "goldens.bin"))
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]int{}
	samples, near := 0, 0 // of the loose steps, and those off by one
	var scratch workspace.Scratch
	var got bitmap.Image
	for lines := bufio.NewScanner(bytes.NewReader(manifest)); lines.Scan(); {
		var c struct {
			Step json.RawMessage
			From [3]int
			To   [2]int
			At   int
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		step, err := unmarshalStep(c.Step)
		if err != nil {
			t.Fatal(err)
		}
		ops[step.op()]++
		src := tiled(source, c.From[0], c.From[1], c.From[2])
		if err := step.apply(&got, src, &scratch); err != nil {
			t.Fatalf("%s of %v: %v", c.Step, c.From, err)
		}
		if got.Width != c.To[1] || got.Height != c.To[0] || got.Channels != c.From[2] {
			t.Errorf("%s of %v: %dx%dx%d, want %v", c.Step, c.From, got.Height, got.Width, got.Channels, c.To)
			continue
		}
		off, most := 0, 0
		for i, want := range goldens[c.At:][:len(got.Pix)] {
			if d := int(got.Pix[i]) - int(want); d != 0 {
				off++
				most = max(most, d, -d)
			}
		}
		if loose[step.op()] && most <= 1 {
			samples += len(got.Pix)
			near += off
			continue
		}
		if off > 0 {
			t.Errorf("%s of %v: %d of %d samples differ, by up to %d levels", c.Step, c.From, off, len(got.Pix), most)
		}
	}
	if near > samples/1000 {
		t.Errorf("%d of %d samples are off by one level", near, samples)
	}
	return ops
}

// tiled is the top left of the array, which is repeated where it is too small;
// of one channel, the green one.
func tiled(a imagetest.Array, h, w, channels int) *bitmap.Image {
	im := new(bitmap.Image)
	im.Reset(w, h, channels)
	for y := range h {
		for x := range w {
			p := a.Bytes[(y%a.Shape[0]*a.Shape[1]+x%a.Shape[1])*3:][:3]
			if channels == 1 {
				p = p[1:2]
			}
			copy(im.Row(y)[x*channels:], p)
		}
	}
	return im
}
