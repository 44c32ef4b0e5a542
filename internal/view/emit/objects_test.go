package emit

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestObjects describes records with one object each, whose lists are of any length all the same,
// and a mask.
func TestObjects(t *testing.T) {
	var b tfrecord.Builder
	for _, axis := range objects.Axes {
		b.Float(axis.Min, 0.25)
		b.Float(axis.Max, 0.75)
	}
	b.Int64(objects.KeyLabel, 90)
	b.String(objects.KeyText, "cat")
	b.Bytes(objects.KeySegmentation, testpng.Encode(image.NewGray(image.Rect(0, 0, 4, 4))))
	dir := writeSet(t, map[string][][]byte{"a.tfrecord": {b.Append(nil), b.Append(nil)}})
	d, err := describe(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Boxes() || !slices.Equal(d.Classes, []Class{{90, "cat"}}) {
		t.Errorf("boxes %v, classes %v", d.Boxes(), d.Classes)
	}
	for _, f := range d.Features {
		if isObjects(f.Key) != f.Ragged {
			t.Errorf("%s is ragged: %v", f.Key, f.Ragged)
		}
		if f.Key == objects.KeySegmentation && (!f.Mask || !slices.Equal(f.Size, []int{-1, -1, 1})) {
			t.Errorf("%+v", f)
		}
	}
	// The label map has classes that no record has.
	if err := os.WriteFile(filepath.Join(dir, manifest.LabelMapFile), []byte(`item { id: 4 name: "dog" } item { id: 90 name: "Cat" }`), 0o644); err != nil {
		t.Fatal(err)
	}
	if d, err = describe(t, filepath.Join(dir, "a.tfrecord")); err != nil || !slices.Equal(d.Classes, []Class{{4, "dog"}, {90, "Cat"}}) {
		t.Errorf("%v, %v", d.Classes, err)
	}
	for target, want := range map[Target][]string{
		TF:    {"with_boxes(example)", `method="nearest"`, `90: "Cat",`, "channels=1"},
		TFDS:  {"data.map(with_boxes", "Sequence(tf.float32)"},
		Torch: {`sample["boxes"] = torch.stack`, `decode(sample["image/segmentation/class/encoded"], None)`, `key == "boxes" or`},
	} {
		text, err := Program(target, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s lacks %q:\n%s", target, w, text)
			}
		}
	}
}

// TestMaskSize: in a batch, a mask gets the size of its image, whether records or a manifest say the
// size, or nothing does.
func TestMaskSize(t *testing.T) {
	records := func(heights ...int) (records [][]byte) {
		for _, h := range heights {
			pixels := testpng.Encode(image.NewGray(image.Rect(0, 0, 20, h)))
			var b tfrecord.Builder
			b.Bytes("image/encoded", pixels)
			b.Int64("image/height", int64(h))
			b.Int64("image/width", 20)
			b.Bytes(objects.KeySegmentation, pixels)
			records = append(records, b.Append(nil))
		}
		return records
	}
	for _, c := range []struct {
		heights  []int
		declared bool
		want     string // empty where nothing is resized
		shape    string // of the mask
	}{
		{[]int{12, 12}, false, "IMAGE_SIZE = (12, 20)", "(None, None, 1)"},
		{[]int{12, 12}, true, "", "(12, 20, 1)"},
		{[]int{12, 16}, false, "IMAGE_SIZE = (224, 224)", "(None, None, 1)"},
	} {
		dir := writeSet(t, map[string][][]byte{"a.tfrecord": records(c.heights...)})
		d, err := describe(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		if c.declared {
			seen := &stats.FeatureSummary{
				Key: objects.KeySegmentation, Records: 2, Values: stats.Range{Min: 1, Max: 1},
				Kinds: map[string]int64{"bytes": 2}, Formats: map[string]int64{"png": 2},
			}
			f, why := newFeature(seen, map[string]manifest.Feature{seen.Key: {
				Key: seen.Key, Kind: "bytes", Class: manifest.ClassImage, Shape: []int{12, 20, 1},
			}})
			if why != "" || !f.Mask {
				t.Fatalf("%+v, %s", f, why)
			}
			i := slices.IndexFunc(d.Features, func(f Feature) bool { return f.Mask })
			d.Features[i] = f
		}
		for _, target := range []Target{TF, TFDS} {
			program, err := Program(target, d)
			if err != nil {
				t.Fatal(err)
			}
			text := string(program)
			if got := strings.Contains(text, "def resize("); got != (c.want != "") || !strings.Contains(text, c.want) {
				t.Errorf("%v, declared %v: %s lacks %q:\n%s", c.heights, c.declared, target, c.want, text)
			}
			if !strings.Contains(text, c.shape) {
				t.Errorf("%v, declared %v: %s lacks %s:\n%s", c.heights, c.declared, target, c.shape, text)
			}
		}
	}
}
