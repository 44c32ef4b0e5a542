package reader

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// randomMask returns a mask with a rectangle of some class and some other pixels.
func randomMask(r *rand.Rand, w, h int) *augment.Image {
	m := &augment.Image{Width: w, Height: h, Channels: 1, Stride: w, Pix: make([]uint8, w*h)}
	x0, y0, class := r.IntN(w), r.IntN(h), []uint8{1, 7, 255}[r.IntN(3)]
	for y := y0; y < y0+1+r.IntN(h-y0); y++ {
		for x := x0; x < x0+1+r.IntN(w-x0); x++ {
			m.Row(y)[x] = class
		}
	}
	m.Pix[r.IntN(len(m.Pix))] ^= class
	return m
}

// uprightMask returns a mask as an EXIF orientation turns it.
func uprightMask(m *augment.Image, orientation int) *augment.Image {
	w, h := m.Width, m.Height
	if orientation >= 5 {
		w, h = h, w
	}
	to := &augment.Image{Width: w, Height: h, Channels: 1, Stride: w, Pix: make([]uint8, w*h)}
	for y := range m.Height {
		for x, v := range m.Row(y) {
			toX, toY := upright(orientation, float64(m.Width), float64(m.Height), float64(x)+0.5, float64(y)+0.5)
			to.Row(int(toY))[int(toX)] = v
		}
	}
	return to
}

// movedMask returns what a draw and a resize make of an upright mask, pixel by pixel.
func movedMask(m *augment.Image, draw augment.Draw, g augment.Geometry) []uint8 {
	for _, s := range draw.Steps {
		m = steppedMask(m, s)
	}
	m = sampledMask(m, g.ScaledWidth, g.ScaledHeight, func(x, y int) (float64, float64) {
		return nearest(x, m.Width, g.ScaledWidth), nearest(y, m.Height, g.ScaledHeight)
	})
	return sampledMask(m, g.Width, g.Height, func(x, y int) (float64, float64) {
		return float64(x + g.CropX - g.PadX), float64(y + g.CropY - g.PadY)
	}).Pix
}

// nearest returns which of in pixels is nearest to pixel i of out, by TensorFlow's arithmetic
// (HalfPixelScalerForNN): where it falls on an edge, roundings of float32 decide.
func nearest(i, in, out int) float64 {
	scale := float32(in) / float32(out)
	return float64(min(int((float32(i)+0.5)*scale), in-1))
}

// sampledMask returns a mask of w x h pixels, each of which is the one of m at a point that at
// returns, and 0 outside.
func sampledMask(m *augment.Image, w, h int, at func(x, y int) (float64, float64)) *augment.Image {
	to := &augment.Image{Width: w, Height: h, Channels: 1, Stride: w, Pix: make([]uint8, w*h)}
	for y := range h {
		for x := range w {
			if fx, fy := at(x, y); fx >= 0 && fy >= 0 && int(fx) < m.Width && int(fy) < m.Height {
				to.Row(y)[x] = m.Row(int(fy))[int(fx)]
			}
		}
	}
	return to
}

// steppedMask returns what a step makes of a mask. Turns by other than right angles are those of the
// images.
func steppedMask(m *augment.Image, s augment.Step) *augment.Image {
	switch s := s.(type) {
	case augment.HFlip:
		return sampledMask(m, m.Width, m.Height, func(x, y int) (float64, float64) { return float64(m.Width - 1 - x), float64(y) })
	case augment.VFlip:
		return sampledMask(m, m.Width, m.Height, func(x, y int) (float64, float64) { return float64(x), float64(m.Height - 1 - y) })
	case augment.CropBox:
		return sampledMask(m, s.W, s.H, func(x, y int) (float64, float64) { return float64(x + s.X), float64(y + s.Y) })
	case augment.ResizedCrop:
		return sampledMask(m, s.Width, s.Height, func(x, y int) (float64, float64) {
			return float64(s.X) + nearest(x, s.W, s.Width), float64(s.Y) + nearest(y, s.H, s.Height)
		})
	case augment.ResizeTo:
		return sampledMask(m, s.Width, s.Height, func(x, y int) (float64, float64) {
			return nearest(x, m.Width, s.Width), nearest(y, m.Height, s.Height)
		})
	}
	var to augment.Image
	if err := (augment.Draw{Steps: []augment.Step{s}}).Mask(0).Apply(&to, m, nil); err != nil {
		panic(err)
	}
	return &to
}

// maskedRecord is a record of an image of w x h pixels with an object over all of it for each mask.
func maskedRecord(t *testing.T, w, h int, masks ...[]byte) []byte {
	t.Helper()
	im, err := augment.AppendPNG(nil, randomImage(rand.New(rand.NewPCG(1, 2)), w, h, 3))
	if err != nil {
		t.Fatal(err)
	}
	return settest.Example(func(b *tfrecord.Builder) {
		e := objectRecord{image: im, boxes: slices.Repeat([][4]float32{{0, 0, 1, 1}}, len(masks)), labels: make([]int64, len(masks))}
		e.fill(b, 0)
		b.Bytes(objects.KeyMask, masks...)
	})
}

// The mask of an object is in its box, whatever moves both.
func TestBoxesContainMasks(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 9))
	policy, err := augment.ParsePolicy("hflip|rotate:40|random_resized_crop:40,scale=0.3-1|affine:20,translate=0.3")
	if err != nil {
		t.Fatal(err)
	}
	set := writeRecords(t, Options{Seed: 3}, 1, func(int) (records [][]byte) {
		for range 40 {
			w, h := 8+r.IntN(50), 8+r.IntN(50)
			e := objectRecord{width: w, height: h, orientation: 1 + r.IntN(8)}
			e.image = orientedJPEG(t, randomImage(r, w, h, 3), e.orientation)
			for range r.IntN(4) {
				x0, y0 := r.IntN(w-2), r.IntN(h-2)
				x1, y1 := x0+1+r.IntN(w-x0-1), y0+1+r.IntN(h-y0-1)
				full := augment.Image{Width: w, Height: h, Channels: 1, Stride: w, Pix: slices.Repeat([]uint8{9}, w*h)}
				e.masks = append(e.masks, sampledMask(&full, w, h, func(x, y int) (float64, float64) {
					if x < x0 || x >= x1 || y < y0 || y >= y1 {
						return -1, -1
					}
					return 0, 0
				}))
				e.boxes = append(e.boxes, [4]float32{float32(x0) / float32(w), float32(y0) / float32(h), float32(x1) / float32(w), float32(y1) / float32(h)})
				e.labels = append(e.labels, 1)
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) { e.fill(b, 0) }))
		}
		return records
	})
	inside := 0
	spec := ImageSpec{Size: 60, Batch: 7, Policy: policy, NCHW: true, Objects: &columns.ObjectSpec{Masks: true, MinVisibility: 0.5}}
	for b, err := range Images(set.Records(), spec).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		o := &b.Objects
		if want := []int{len(o.Labels), 60, 60}; !slices.Equal(o.MaskShape, want) || len(o.Masks) != len(o.Labels)*3600 {
			t.Fatalf("%d samples of shape %v, want %v", len(o.Masks), o.MaskShape, want)
		}
		for k := range o.Labels {
			box := o.Boxes[4*k:][:4]
			for i, v := range o.Masks[k*3600:][:3600] {
				x, y := float32(i%60), float32(i/60)
				const slack = 3 // nearest pixels of several steps, each half a pixel, which the last one enlarges
				if v != 0 && (x < box[0]-slack || y < box[1]-slack || x+1 > box[2]+slack || y+1 > box[3]+slack) {
					t.Fatalf("object %d: pixel %v,%v is not in %v", k, x, y, box)
				}
				inside += int(v)
			}
		}
	}
	if inside < 1000 {
		t.Errorf("only %d pixels", inside)
	}
}

// A mask that does not fit is an error of the record that names it.
func TestImagesSayWhichObjectMaskIsBad(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	random := func(w, h, channels int) []byte {
		data, err := augment.AppendPNG(nil, randomImage(r, w, h, channels))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := random(12, 9, 1)
	for says, masks := range map[string][][]byte{
		"object 1: the mask is 12x8x1: want 12x9x1":  {good, random(12, 8, 1)},
		"object 0: the mask is 12x9x3":               {random(12, 9, 3), good},
		"object 1: ":                                 {good, good[:len(good)/2]},
		"object 0: it has no mask":                   {nil},
		"object 1: it has no mask":                   {good, {}},
		"has 1 values for 2 boxes":                   {good},
		"0 values for 2 boxes: want a mask for each": nil,
	} {
		record := maskedRecord(t, 12, 9, masks...)
		if strings.Contains(says, "for 2 boxes") {
			record = settest.Example(func(b *tfrecord.Builder) {
				e := objectRecord{image: random(12, 9, 3), boxes: [][4]float32{{0, 0, 1, 1}, {0, 0, 1, 1}}, labels: []int64{1, 2}}
				e.fill(b, 0)
				b.Bytes(objects.KeyMask, masks...)
			})
		}
		set := writeRecords(t, Options{}, 1, func(int) [][]byte {
			return [][]byte{maskedRecord(t, 12, 9), maskedRecord(t, 12, 9, good), record}
		})
		spec := ImageSpec{Size: 4, Batch: 2, Objects: &columns.ObjectSpec{Masks: true}}
		var err error
		for _, err = range Images(set.Records(), spec).All(t.Context()) {
		}
		var located *tfrecord.Error
		if !errors.As(err, &located) || located.Record != 2 || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), objects.KeyMask) {
			t.Errorf("%v; want record 2, %s", err, says)
		}
	}
	// Without Masks, nothing is read of them.
	set := writeRecords(t, Options{}, 1, func(int) [][]byte { return [][]byte{maskedRecord(t, 12, 9, good[:9], nil)} })
	for b, err := range Images(set.Records(), ImageSpec{Size: 4, Objects: &columns.ObjectSpec{}}).All(t.Context()) {
		if err != nil || b.Objects.Masks != nil || b.Objects.MaskShape != nil {
			t.Errorf("%v %v", err, b)
		}
	}
}

// A record cannot make a batch take more than the bound: that is an error, the same whatever the
// number of workers.
func TestObjectMasksAreBounded(t *testing.T) {
	race.Skip(t)
	tiny, err := augment.AppendPNG(nil, randomImage(rand.New(rand.NewPCG(7, 7)), 2, 2, 1))
	if err != nil {
		t.Fatal(err)
	}
	const most = 256 // of 2048 x 2048 pixels
	many := func(n int) []byte { return maskedRecord(t, 2, 2, slices.Repeat([][]byte{tiny}, n)...) }
	set := writeRecords(t, Options{}, 1, func(int) [][]byte {
		return [][]byte{many(2), many(0), many(1), many(most - 2), many(1 << 20)}
	})
	for _, workers := range []int{1, 3} {
		spec := ImageSpec{Size: 2048, Channels: 1, Batch: 5, Workers: workers, Objects: &columns.ObjectSpec{Masks: true}}
		for _, err = range Images(set.Records(), spec).All(t.Context()) {
		}
		if !errors.Is(err, columns.ErrPadding) || !strings.Contains(err.Error(), "254 masks of 2048x2048 in a batch that has 3 of the records before") {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
	// Objects that are left out have no masks in the batch.
	crowded := writeRecords(t, Options{}, 1, func(int) [][]byte {
		e := objectRecord{image: tiny, boxes: slices.Repeat([][4]float32{{0, 0, 1, 1}}, 2*most), labels: make([]int64, 2*most), crowd: slices.Repeat([]int64{1}, 2*most)}
		e.masks, e.crowd[5] = slices.Repeat([]*augment.Image{randomImage(rand.New(rand.NewPCG(7, 7)), 2, 2, 1)}, 2*most), 0
		return [][]byte{settest.Example(func(b *tfrecord.Builder) { e.fill(b, 0) })}
	})
	for _, drop := range []bool{true, false} {
		spec := ImageSpec{Size: 2048, Channels: 1, Objects: &columns.ObjectSpec{Masks: true, DropCrowd: drop}}
		for b, err := range Images(crowded.Records(), spec).All(t.Context()) {
			if drop && (err != nil || !slices.Equal(b.Objects.Indexes, []int64{5})) || !drop && !errors.Is(err, columns.ErrPadding) {
				t.Errorf("drop %v: %v", drop, err)
			}
		}
	}
	spec := ImageSpec{Size: 2048, Channels: 1, Batch: 4, Objects: &columns.ObjectSpec{Masks: true, MaxBoxes: most + 1}}
	for _, err = range Images(set.Records(), spec).All(t.Context()) {
	}
	if err == nil || !strings.Contains(err.Error(), "want 4294967296 bytes a batch at most") {
		t.Error(err)
	}
}
