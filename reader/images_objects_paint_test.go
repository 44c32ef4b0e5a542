package reader

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// paint returns a black image with a white rectangle, x0 <= x < x1 and so for y, and its record.
func paint(t *testing.T, r *rand.Rand, w, h, x0, y0, x1, y1 int) objectRecord {
	t.Helper()
	im := &augment.Image{}
	im.Reset(w, h, 3)
	clear(im.Pix)
	for y := y0; y < y1; y++ {
		pipeline.Fill(im.Row(y)[3*x0:3*x1:3*x1], 255)
	}
	e := objectRecord{width: w, height: h, orientation: 1 + r.IntN(8), labels: []int64{1}}
	e.boxes = [][4]float32{{float32(x0) / float32(w), float32(y0) / float32(h), float32(x1) / float32(w), float32(y1) / float32(h)}}
	e.image = orientedJPEG(t, im, e.orientation)
	return e
}

// painted returns the box around the white pixels of image i of a batch, and their number.
func painted(b *ImageBatch, i int) (box [4]float64, white int) {
	h, w := b.Shape[len(b.Shape)-3], b.Shape[len(b.Shape)-2]
	box = [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for p := range h * w {
		if b.Bytes[(i*h*w+p)*3] < 128 {
			continue
		}
		x, y := float64(p%w), float64(p/w)
		box = [4]float64{min(box[0], x), min(box[1], y), max(box[2], x+1), max(box[3], y+1)}
		white++
	}
	return box, white
}

// Boxes are where the pixels are, whatever moves them.
func TestObjectsAreWhereThePixelsAre(t *testing.T) {
	checked := map[string]int{}
	for _, policy := range []string{"", "hflip", "vflip", "random_resized_crop:90,scale=0.3-1", "random_crop:120,padding=20", "center_crop:100", "resize:61x83", "rotate:45", "perspective:0.3", "affine:0,translate=0.2,scale=0.7-1.3"} {
		for _, fit := range []augment.Fit{augment.Stretch, augment.Crop, augment.Pad} {
			for _, seed := range torture.Seeds(1, 20) {
				r := rand.New(rand.NewPCG(seed, 41))
				var records []objectRecord
				for range 16 {
					w, h := 130+r.IntN(60), 130+r.IntN(60)
					side := 30 + r.IntN(40)
					x, y := r.IntN(w-side), r.IntN(h-side)
					if policy == "rotate:45" || policy == "perspective:0.3" {
						x, y = (w-side)/2, (h-side)/2 // what a clip leaves of a turned rectangle has another box
					}
					records = append(records, paint(t, r, w, h, x, y, x+side, y+side))
				}
				spec := ImageSpec{
					Resize: augment.ResizeSpec{Width: 80 + r.IntN(60), Height: 80 + r.IntN(60), Fit: fit},
					Batch:  5, LabelKey: DefaultLabelKey, Objects: &columns.ObjectSpec{},
				}
				var err error
				if policy != "" {
					if spec.Policy, err = augment.ParsePolicy(policy); err != nil {
						t.Fatal(err)
					}
				}
				checkFreed := drawBackend(r, &spec)
				set := writeRecords(t, Options{Seed: seed}, 1, func(int) (all [][]byte) {
					for i := range records {
						all = append(all, settest.Example(func(b *tfrecord.Builder) { records[i].fill(b, i) }))
					}
					return all
				})
				for b, err := range Images(set.Records().Shuffle(9), spec).All(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					for i := range b.Shape[0] {
						checked[policy] += checkPainted(t, b, i, fmt.Sprintf("%q, %v, seed %d, image %d", policy, fit, seed, b.Labels[i]))
					}
				}
				checkFreed(t)
			}
		}
	}
	for policy, n := range checked {
		if n < 20 {
			t.Errorf("%q: only %d boxes were compared", policy, n)
		}
	}
}

// checkPainted compares the box of an image of a batch with its pixels; 0 if so little is left that
// the pixels say nothing.
func checkPainted(t *testing.T, b *ImageBatch, i int, trial string) int {
	t.Helper()
	pixels, white := painted(b, i)
	o := &b.Objects
	if o.Counts[i] == 0 {
		if white > 0 {
			t.Errorf("%s: no box, and %d white pixels in %v", trial, white, pixels)
		}
		return 0
	}
	box := o.Boxes[4*o.Splits[i]:]
	if min(box[2]-box[0], box[3]-box[1]) < 4 {
		return 0
	}
	for k, v := range pixels {
		if !(math.Abs(v-float64(box[k])) <= 1.5) {
			t.Errorf("%s: box %v, pixels %v", trial, box[:4], pixels)
			return 0
		}
	}
	return 1
}
