package convert

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
)

// maskFile returns a PNG in the frame of the drawing's file, of what value says of each pixel as
// shown.
func (d *drawing) maskFile(value func(at image.Point) uint8) []byte {
	w, h := d.w, d.h
	if d.orientation >= 5 {
		w, h = h, w
	}
	im := image.NewGray(image.Rect(0, 0, w, h))
	for y := range d.h {
		for x := range d.w {
			sx, sy := d.turn(x, y)
			im.SetGray(sx, sy, color.Gray{Y: value(image.Pt(x, y))})
		}
	}
	return testpng.Encode(im)
}

// addMasks adds a mask of each object, and one of the classes, counted from 1.
func addMasks(features map[string]any, d *drawing) {
	all := [][]byte{}
	for _, r := range d.rects {
		all = append(all, d.maskFile(func(at image.Point) uint8 {
			if at.In(r.box) {
				return 255
			}
			return 0
		}))
	}
	features[objects.KeyMask] = all
	features[objects.KeySegmentation] = [][]byte{d.maskFile(func(at image.Point) uint8 {
		for _, r := range d.rects {
			if at.In(r.box) {
				return uint8(r.class + 1)
			}
		}
		return 0
	})}
	features[objects.KeySegmentationFormat] = [][]byte{[]byte("PNG")}
}

// TestMasksOfRecordsFollowTheirImages: masks are where the colours are.
func TestMasksOfRecordsFollowTheirImages(t *testing.T) {
	src, _ := drawnRecords(t, rand.New(rand.NewPCG(9, 23)), 24, addMasks)
	resize := func(w, h int, fit augment.Fit) augment.ResizeSpec {
		return augment.ResizeSpec{Width: w, Height: h, Fit: fit, Filter: augment.Nearest, NoAntialias: true}
	}
	for name, o := range map[string]ImageOptions{
		"upright": {},
		"stretch": {Resize: resize(40, 70, augment.Stretch)},
		"crop":    {Resize: resize(50, 50, augment.Crop)},
		"pad":     {Resize: resize(120, 90, augment.Pad)},
		"drawn":   {Augment: AugmentSpec{Policy: policy(t, "random_crop:36|hflip:0.5|rotate:90..90"), Copies: 3, KeepOriginal: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Encode.Format, o.Name, o.Workers, o.Shards = PNG, "n", 1, 2
			out, other := t.TempDir(), t.TempDir()
			mustImages(t, src, out, o)
			o.Workers = 3
			mustImages(t, src, other, o)
			sameSet(t, contents(t, other), contents(t, out))
			n := 0
			for _, e := range examples(t, out, "train") {
				n += checkMasks(t, e)
			}
			if n < 200 {
				t.Errorf("only %d pixels of objects", n)
			}
		})
	}
}

// checkMasks compares the masks of a record with what its image shows, and returns the number of
// pixels of objects.
func checkMasks(t *testing.T, e map[string]any) (n int) {
	t.Helper()
	im := decodePNG(t, e[imagekey.Encoded].([][]byte)[0])
	labels, masks := e[objects.KeyLabel].([]int64), e[objects.KeyMask].([][]byte)
	if format := string(e[objects.KeySegmentationFormat].([][]byte)[0]); len(masks) != len(labels) || !strings.EqualFold(format, "png") {
		t.Fatalf("%s: %d masks for %d objects, and one of format %s", e[imagekey.Filename], len(masks), len(labels), format)
	}
	classes := decodePNG(t, e[objects.KeySegmentation].([][]byte)[0])
	shown := map[image.Point]uint8{}
	for i, label := range labels {
		mask := decodePNG(t, masks[i])
		_, pixels := extent(im, hues[label])
		if mask.Bounds() != im.Bounds() {
			t.Fatalf("%s: a mask of %v, and an image of %v", e[imagekey.Filename], mask.Bounds(), im.Bounds())
		}
		for y := range im.Bounds().Dy() {
			for x := range im.Bounds().Dx() {
				if inside := mask.(*image.Gray).GrayAt(x, y).Y != 0; inside != pixels[image.Pt(x, y)] {
					t.Fatalf("%s, hue%d: %v at %d,%d", e[imagekey.Filename], label, inside, x, y)
				}
			}
		}
		for at := range pixels {
			shown[at] = uint8(label + 1)
		}
		n += len(pixels)
	}
	for y := range classes.Bounds().Dy() {
		for x := range classes.Bounds().Dx() {
			got, want := classes.(*image.Gray).GrayAt(x, y).Y, shown[image.Pt(x, y)]
			if r, g, b, _ := im.At(x, y).RGBA(); want == 0 && r+g+b == 0 {
				want = 255 // outside
			}
			if got != want || classes.Bounds() != im.Bounds() {
				t.Fatalf("%s: class %d at %d,%d, want %d", e[imagekey.Filename], got, x, y, want)
			}
		}
	}
	return n
}

// TestDamagedMasksOfRecords: the mask becomes empty, and is named. The object stays.
func TestDamagedMasksOfRecords(t *testing.T) {
	for says, damage := range map[string]func(data []byte, d *drawing) []byte{
		"the mask is ": func(data []byte, d *drawing) []byte {
			larger := drawing{w: d.w + 1, h: d.h, orientation: d.orientation}
			return larger.maskFile(func(image.Point) uint8 { return 1 })
		},
		"png": func(data []byte, d *drawing) []byte { return data[:len(data)/2] },
	} {
		bad, boxes := "", 0
		src, total := drawnRecords(t, rand.New(rand.NewPCG(9, 2)), 12, func(features map[string]any, d *drawing) {
			addMasks(features, d)
			if masks := features[objects.KeyMask].([][]byte); len(masks) > 1 && bad == "" {
				bad, boxes = d.name, len(masks)
				masks[1] = damage(masks[1], d)
			}
		})
		out := t.TempDir()
		o := ImageOptions{Options: Options{Name: "n", MaxErrors: Tolerance{Count: 1}}, Resize: augment.ResizeSpec{Width: 120, Height: 90, Filter: augment.Nearest, NoAntialias: true}, Encode: EncodeSpec{Format: PNG}}
		s := mustImages(t, src, out, o)
		if s.Records != 12 || s.Errors != 1 || s.AnnotationCounts.Annotations != int64(total) || s.AnnotationCounts.Dropped != 0 {
			t.Errorf("%+v %+v", s, s.AnnotationCounts)
		}
		if ledger := contents(t, out)["errors.jsonl"]; !strings.Contains(ledger, bad) || !strings.Contains(ledger, "object 2") || !strings.Contains(ledger, says) {
			t.Errorf("%s: %s", says, ledger)
		}
		for _, e := range examples(t, out, "train") {
			if string(e[imagekey.Filename].([][]byte)[0]) == bad {
				masks := e[objects.KeyMask].([][]byte)
				if len(masks) != boxes || len(e[objects.KeyLabel].([]int64)) != boxes {
					t.Fatalf("%s: %d masks and %d labels of %d", bad, len(masks), len(e[objects.KeyLabel].([]int64)), boxes)
				}
				im := decodePNG(t, masks[1]).(*image.Gray)
				if im.Bounds() != decodePNG(t, masks[0]).Bounds() || bytes.Count(im.Pix, []byte{0}) != len(im.Pix) {
					t.Errorf("%s: the mask of %v is not empty", bad, im.Bounds())
				}
			}
		}
	}
}
