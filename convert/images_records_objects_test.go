package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/verify"
	"github.com/tfrec/tfrec/tfrecord"
)

// drawnRecords writes drawings as records of the Object Detection API, in the frame of their files.
func drawnRecords(t *testing.T, r *rand.Rand, n int, more func(features map[string]any, d *drawing)) (path string, objectCount int) {
	t.Helper()
	var records [][]byte
	for i := range n {
		d := drawDrawing(r, i)
		d.stored = d.orientation >= 5
		w, h := float32(d.w), float32(d.h)
		if d.stored {
			w, h = h, w
		}
		sides := [4][]float32{}
		areas, labels, weights := []float32{}, []int64{}, []float32{}
		texts := [][]byte{}
		for _, rect := range d.rects {
			x0, y0 := d.turn(rect.box.Min.X, rect.box.Min.Y)
			x1, y1 := d.turn(rect.box.Max.X-1, rect.box.Max.Y-1)
			sides[0], sides[2] = append(sides[0], float32(min(x0, x1))/w), append(sides[2], float32(max(x0, x1)+1)/w)
			sides[1], sides[3] = append(sides[1], float32(min(y0, y1))/h), append(sides[3], float32(max(y0, y1)+1)/h)
			areas, labels = append(areas, float32(rect.box.Dx()*rect.box.Dy())), append(labels, int64(rect.class))
			weights, texts = append(weights, float32(rect.class)/2), append(texts, fmt.Appendf(nil, "hue%d", rect.class))
		}
		objectCount += len(labels)
		features := map[string]any{
			imagekey.Encoded: [][]byte{d.file()}, imagekey.Filename: [][]byte{[]byte(d.name)}, objects.KeySHA256: [][]byte{[]byte("old")},
			objects.KeyXMin: sides[0], objects.KeyYMin: sides[1], objects.KeyXMax: sides[2], objects.KeyYMax: sides[3],
			objects.KeyLabel: labels, objects.KeyText: texts, objects.KeyArea: areas, "image/object/weight": weights,
		}
		if more != nil {
			more(features, &d)
		}
		records = append(records, exampleOf(features))
	}
	path = filepath.Join(t.TempDir(), "d.tfrecord")
	writeRecords(t, path, tfrecord.CompressionNone, records...)
	return path, objectCount
}

// TestObjectsOfRecordsFollowTheirImages: boxes are where the colours are, all lists lose the same
// objects, and the hash is that of the new image.
func TestObjectsOfRecordsFollowTheirImages(t *testing.T) {
	src, total := drawnRecords(t, rand.New(rand.NewPCG(6, 23)), 24, nil)
	resize := func(w, h int, fit augment.Fit) augment.ResizeSpec {
		return augment.ResizeSpec{Width: w, Height: h, Fit: fit, Filter: augment.Nearest, NoAntialias: true}
	}
	for name, o := range map[string]ImageOptions{
		"upright": {},
		"stretch": {Resize: resize(40, 70, augment.Stretch)},
		"crop":    {Resize: resize(50, 50, augment.Crop)},
		"pad":     {Resize: resize(120, 90, augment.Pad)},
		"iou":     {Augment: AugmentSpec{Policy: policy(t, "iou_crop:0.3,scale=0.2-1"), Copies: 2}},
		"visible": {Resize: resize(30, 60, augment.Crop), Annotations: AnnotationSpec{MinVisibility: 0.9}},
		"drawn":   {Augment: AugmentSpec{Policy: policy(t, "random_crop:36|hflip:0.5|rotate:90..90"), Copies: 3, KeepOriginal: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Encode.Format, o.Name, o.Workers, o.Shards = PNG, "n", 1, 2
			out, other := t.TempDir(), t.TempDir()
			s := mustImages(t, src, out, o)
			o.Workers = 3
			mustImages(t, src, other, o)
			sameSet(t, contents(t, other), contents(t, out))
			n := 0
			all := examples(t, out, "train")
			for _, e := range all {
				n += checkFollowed(t, e, o.Annotations.MinVisibility == 0)
			}
			c := s.AnnotationCounts
			if c == nil || c.Annotations != int64(n) || n+int(c.Dropped) != total*len(all)/24 || n == 0 {
				t.Errorf("%d objects of %d in %d records: %+v", n, total, len(all), c)
			}
			if again := mustImages(t, src, out, o); again.Status != UpToDate || *again.AnnotationCounts != *c {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// checkFollowed compares the boxes of a record with what its image shows, and returns their number;
// complete says that no object is too little visible.
func checkFollowed(t *testing.T, e map[string]any, complete bool) int {
	t.Helper()
	encoded := e[imagekey.Encoded].([][]byte)[0]
	im := decodePNG(t, encoded)
	sum := sha256.Sum256(encoded)
	if got := string(e[objects.KeySHA256].([][]byte)[0]); got != hex.EncodeToString(sum[:]) {
		t.Errorf("%s: hash %s", e[imagekey.Filename], got)
	}
	labels, weights, texts := e[objects.KeyLabel].([]int64), e["image/object/weight"].([]float32), e[objects.KeyText].([][]byte)
	areas := e[objects.KeyArea].([]float32)
	seen := map[int64]bool{}
	for i, label := range labels {
		seen[label] = true
		at, pixels := extent(im, hues[label])
		if weights[i] != float32(label)/2 || string(texts[i]) != fmt.Sprintf("hue%d", label) {
			t.Errorf("%s: object of another list: %v", e[imagekey.Filename], e)
		}
		w, h := float64(im.Bounds().Dx()), float64(im.Bounds().Dy())
		box := func(key string) float64 { return float64(e[key].([]float32)[i]) }
		if len(pixels) == 0 && areas[i] > 0.01 && min((box(objects.KeyXMax)-box(objects.KeyXMin))*w, (box(objects.KeyYMax)-box(objects.KeyYMin))*h) < 1 {
			continue // narrower than a pixel
		}
		for key, want := range map[string]float64{
			objects.KeyXMin: float64(at.Min.X) / w, objects.KeyXMax: float64(at.Max.X) / w,
			objects.KeyYMin: float64(at.Min.Y) / h, objects.KeyYMax: float64(at.Max.Y) / h,
		} {
			if got := float64(e[key].([]float32)[i]); len(e[key].([]float32)) != len(labels) || math.Abs(got-want)*max(w, h) > 1.01 {
				t.Errorf("%s, hue%d: %s is %g, in the image %g", e[imagekey.Filename], label, key, got, want)
			}
		}
		if area := float64(areas[i]); math.Abs(area-float64(len(pixels))) > 0.2*area+2*float64(at.Dx()+at.Dy()) {
			t.Errorf("%s, hue%d: area %g of %d pixels", e[imagekey.Filename], label, area, len(pixels))
		}
	}
	for class, hue := range hues {
		if _, pixels := extent(im, hue); complete && len(pixels) > 0 && !seen[int64(class)] {
			t.Errorf("%s: %d pixels of hue%d and no object", e[imagekey.Filename], len(pixels), class)
		}
	}
	return len(labels)
}

// TestKeptRecordsKeepTheirObjects: nothing is moved, so nothing is read either.
func TestKeptRecordsKeepTheirObjects(t *testing.T) {
	broken := func(features map[string]any, d *drawing) { features[objects.KeyArea] = []float32{1, 2, 3, 4, 5, 6, 7} }
	src, _ := drawnRecords(t, rand.New(rand.NewPCG(6, 1)), 3, broken)
	out := t.TempDir()
	if s := mustImages(t, src, out, ImageOptions{Options: Options{Name: "n"}}); s.AnnotationCounts != nil {
		t.Errorf("%+v", s)
	}
	for _, e := range examples(t, out, "train") {
		if len(e[objects.KeyArea].([]float32)) != 7 || string(e[objects.KeySHA256].([][]byte)[0]) != "old" {
			t.Errorf("%v", e)
		}
	}
}

func TestRecordsWhoseObjectsCannotFollow(t *testing.T) {
	for name, c := range map[string]struct {
		more func(features map[string]any, d *drawing)
		says string
	}{
		"lists":     {func(f map[string]any, d *drawing) { f[objects.KeyLabel] = make([]int64, 9) }, "9 values for"},
		"other":     {func(f map[string]any, d *drawing) { f["image/object/odd"] = make([]int64, 9) }, "image/object/odd has 9 values for"},
		"colors":    {func(f map[string]any, d *drawing) { f[objects.KeySegmentation] = [][]byte{d.file()} }, "image/segmentation/class/encoded: the mask is "},
		"two masks": {func(f map[string]any, d *drawing) { f[objects.KeySegmentation] = [][]byte{d.file(), nil} }, "is not one PNG"},
		"keypoints": {func(f map[string]any, d *drawing) { f[objects.KeyKeypointX] = make([]float32, 17) }, "17 values for 3 boxes: want the same number for each"},
		"depths":    {func(f map[string]any, d *drawing) { f["image/object/keypoint/z"] = make([]float32, 3) }, "image/object/keypoint/z cannot follow"},
	} {
		src, _ := drawnRecords(t, rand.New(rand.NewPCG(6, 2)), 4, func(features map[string]any, d *drawing) {
			if d.name == "d02.png" {
				c.more(features, d)
			}
		})
		o := ImageOptions{Options: Options{Name: "n"}, Resize: augment.ResizeSpec{Width: 30, Height: 30, Fit: augment.Crop, NoAntialias: true}}
		var bad *BadSamplesError
		_, err := Images(context.Background(), src, t.TempDir(), o)
		if !errors.As(err, &bad) || len(bad.Samples) != 1 || bad.Samples[0].Stage != plan.StageAnnotation || !strings.Contains(bad.Samples[0].Reason, c.says) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		o.MaxErrors = Tolerance{Count: 1}
		out := t.TempDir()
		mustImages(t, src, out, o)
		if slices.ContainsFunc(examples(t, out, "train"), func(e map[string]any) bool { return string(e[imagekey.Filename].([][]byte)[0]) == "d02.png" }) {
			t.Errorf("%s: the record is in the set", name)
		}
	}
}

// TestRecordsKeepTheLabelMap: a detection set that is made again has the names of its ids.
func TestRecordsKeepTheLabelMap(t *testing.T) {
	src, file, _ := drawingsIn(t, rand.New(rand.NewPCG(3, 3)), 9)
	first, out, tasks := t.TempDir(), t.TempDir(), t.TempDir()
	mustImages(t, src, first, with(file, ImageOptions{}))
	o := ImageOptions{Options: Options{Name: "n", Shards: 2}, Resize: augment.ResizeSpec{Square: 32, NoAntialias: true}}
	mustImages(t, first, out, o)
	if a, b := contents(t, first)[manifest.LabelMapFile], contents(t, out)[manifest.LabelMapFile]; a != b || a == "" {
		t.Errorf("label map %q, was %q", b, a)
	}
	if report, err := verify.Files(t.Context(), []string{out}, verify.Options{}); err != nil || !report.OK {
		t.Errorf("verify: %v %+v", err, report)
	}
	for i := range 2 {
		mustImages(t, first, tasks, taskOf(o, i, 2))
	}
	mustFinalize(t, tasks)
	sameSet(t, contents(t, tasks), contents(t, out))
}
