//go:build interop

package interop

import (
	"bufio"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

var (
	torchvision = flag.String("torchvision", "../../../.venv/torchvision", "directory with the package torchvision, without its dependencies")
	writeBoxes  = flag.String("write-boxes", "", "write the first 400 cases of TestBoxes, with torchvision's answers, to this file")
)

// boxCase is a request to boxes.py.
type boxCase struct {
	Steps augment.Draw `json:"steps"`
	Size  [2]int       `json:"size"`
	Boxes [][4]float64 `json:"boxes"`
}

// boxAnswer is what boxes.py answers; boxes that are lost are null.
type boxAnswer struct {
	Size   [2]int        `json:"size"`
	Boxes  []*[4]float64 `json:"boxes"`
	Shares []float64     `json:"shares"`
}

// boxSpecs are the operations that move pixels.
var boxSpecs = []string{
	"hflip:1", "vflip:1", "center_crop:170x90", "random_crop:150,padding=20", "pad:17/9", "resize:180", "resize:333x77", "random_resized_crop:224x128,scale=0.1-1",
	"rotate:180", "rotate:180,expand=true", "one_of(rotate:90..90|rotate:180..180|rotate:-90..-90,expand=true)", "affine:180,0.3,0.3-2,40/40",
	"sequence:0.2(trivial_augment)", "perspective:0.6,p=1", "iou_crop",
}

// randomBoxCase draws one to four operations for an image with up to three boxes.
func randomBoxCase(t *testing.T, r *rand.Rand, n int) boxCase {
	c := boxCase{Size: [2]int{1 + r.IntN(640), 1 + r.IntN(640)}}
	if r.IntN(20) == 0 {
		c.Size = [2]int{1 + r.IntN(3), 1 + r.IntN(3000)}
	}
	side := func(n int) (float64, float64) {
		a, b := r.Float64()*float64(n), r.Float64()*float64(n)
		switch r.IntN(5) {
		case 0:
			a = 0
		case 1:
			b = float64(n)
		}
		return min(a, b), max(a, b)
	}
	var boxes []augment.Box
	for range 1 + r.IntN(3) {
		var b augment.Box
		b.XMin, b.XMax = side(c.Size[0])
		b.YMin, b.YMax = side(c.Size[1])
		boxes = append(boxes, b)
		c.Boxes = append(c.Boxes, [4]float64{b.XMin, b.YMin, b.XMax, b.YMax})
	}
	var specs []string
	for range 1 + r.IntN(4) {
		specs = append(specs, boxSpecs[r.IntN(len(boxSpecs))])
	}
	policy, err := augment.ParsePolicy(strings.Join(specs, "|"))
	if err != nil {
		t.Fatal(err)
	}
	draw := policy.DrawBoxes(r.Uint64(), "a", n, c.Size[0], c.Size[1], boxes)
	c.Steps.Steps = slices.DeleteFunc(draw.Steps, func(s augment.Step) bool {
		return len(augment.Draw{Steps: []augment.Step{s}}.Mask(0).Steps) == 0 // moves no pixels
	})
	w, h := c.Size[0], c.Size[1]
	for i, s := range c.Steps.Steps {
		w, h = augment.Draw{Steps: []augment.Step{s}}.Size(w, h)
		if w*h > 4_000_000 || max(w, h) > augment.MaxSide { // which take long to turn, or cannot be made
			c.Steps.Steps = c.Steps.Steps[:i]
			break
		}
	}
	return c
}

// TestBoxes compares Draw.Box with torchvision.transforms.v2.
func TestBoxes(t *testing.T) {
	if exec.Command(withTorch, "-c", "import torch").Run() != nil {
		t.Skipf("%s has no PyTorch (on Debian: apt-get install python3-torch)", withTorch)
	}
	if _, err := os.Stat(filepath.Join(*torchvision, "torchvision")); err != nil {
		t.Skipf("no torchvision (make interop installs it): %v", err)
	}
	ask := startScript(t, withTorch, "boxes.py", *torchvision)
	var golden *bufio.Writer
	if *writeBoxes != "" {
		f, err := os.Create(*writeBoxes)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		golden = bufio.NewWriter(f)
		defer golden.Flush()
	}
	r := rand.New(rand.NewPCG(23, 0))
	visible, lost, worst := 0, 0, 0.0
	for n := range 5000 {
		c := randomBoxCase(t, r, n)
		var want boxAnswer
		ask(t, c, &want)
		request, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if golden != nil && n < 400 {
			answer, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			golden.WriteString(`{"case":` + string(request) + `,"want":` + string(answer) + "}\n")
		}
		if w, h := c.Steps.Size(c.Size[0], c.Size[1]); want.Size != [2]int{w, h} {
			t.Fatalf("%s: %dx%d, torchvision says %v", request, w, h, want.Size)
		}
		for i, b := range c.Boxes {
			got, share := c.Steps.Box(augment.Box{XMin: b[0], YMin: b[1], XMax: b[2], YMax: b[3]}, c.Size[0], c.Size[1])
			if want.Boxes[i] == nil || share == 0 {
				if want.Shares[i] > 1e-9 || share > 1e-9 {
					t.Fatalf("%s: box %d: %v, a share of %v; torchvision says %v", request, i, got, share, want.Shares[i])
				}
				lost++
				continue
			}
			visible++
			w := *want.Boxes[i]
			off := max(math.Abs(got.XMin-w[0]), math.Abs(got.YMin-w[1]), math.Abs(got.XMax-w[2]), math.Abs(got.YMax-w[3]))
			worst = max(worst, off)
			if off > 1e-4 || math.Abs(share-want.Shares[i]) > 1e-6 {
				t.Fatalf("%s: box %d: %v, a share of %v; torchvision says %v, %v", request, i, got, share, w, want.Shares[i])
			}
		}
	}
	if visible < 5000 || lost < 100 {
		t.Errorf("only %d boxes that are visible, %d that are lost", visible, lost)
	}
	t.Logf("%d boxes visible, up to %.1e pixels away, and %d lost", visible, worst, lost)
}
