package steps

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestBoxGoldens compares boxes with those of torchvision.transforms.v2, as TestBoxes of
// internal/dev/interop does for more.
func TestBoxGoldens(t *testing.T) {
	f, err := os.Open("../../../testdata/augment/boxes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	boxes, ops := 0, map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var g struct {
			Case struct {
				Steps Draw
				Size  [2]int
				Boxes [][4]float64
			}
			Want struct {
				Size   [2]int
				Boxes  []*[4]float64
				Shares []float64
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		c, want := g.Case, g.Want
		for _, s := range c.Steps.Steps {
			ops[s.op()]++
		}
		if w, h := c.Steps.Size(c.Size[0], c.Size[1]); want.Size != [2]int{w, h} {
			t.Errorf("%+v: %dx%d, want %v", c.Steps, w, h, want.Size)
		}
		for i, b := range c.Boxes {
			boxes++
			got, share := c.Steps.Box(bitmap.Box{XMin: b[0], YMin: b[1], XMax: b[2], YMax: b[3]}, c.Size[0], c.Size[1])
			if math.Abs(share-want.Shares[i]) > 1e-6 {
				t.Errorf("%v of %v by %+v: a share of %v, want %v", b, c.Size, c.Steps, share, want.Shares[i])
			}
			if w := want.Boxes[i]; w != nil && share > 0 && imagetest.Farthest(got, bitmap.Box{XMin: w[0], YMin: w[1], XMax: w[2], YMax: w[3]}) > 1e-4 {
				t.Errorf("%v of %v by %+v: %v, want %v", b, c.Size, c.Steps, got, *w)
			}
		}
	}
	for _, c := range stepSamples {
		if _, moves := MoveBox(c.step, bitmap.Box{}, 9, 9); moves && ops[c.step.op()] < 20 {
			t.Errorf("%d goldens of %s", ops[c.step.op()], c.step.op())
		}
	}
	if boxes < 500 {
		t.Errorf("only %d boxes", boxes)
	}
}
