package convert

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestImageVariantsAreThoseOfSets compares steps, objects and masks of single images with those that
// sets store, for images of all orientations.
func TestImageVariantsAreThoseOfSets(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 5))
	src, file, drawings := drawingsIn(t, r, 16)
	const copies = 3
	dropped := int64(0)
	for _, spec := range []string{"iou_crop:0.1/0.5,scale=0.3-0.8|hflip", "random_crop:40|rotate:40", "perspective|resize:77x50|vflip"} {
		for _, masks := range []bool{false, true} {
			o := with(file, ImageOptions{
				Options: Options{Shards: 1, Seed: r.Uint64N(100)}, Encode: EncodeSpec{Format: PNG},
				Augment: AugmentSpec{Policy: policy(t, spec), Copies: copies, KeepOriginal: true},
			})
			o.Annotations.InstanceMasks, o.Annotations.MinVisibility = masks, 0.4
			out := t.TempDir()
			sum := mustImages(t, src, out, o)
			stored := map[string]map[string]any{}
			for _, e := range examples(t, out, "train") {
				stored[fmt.Sprint(string(e[imagekey.Filename].([][]byte)[0]), e[imagekey.Copy].([]int64)[0])] = e
			}
			before := dropped
			for _, d := range drawings {
				v, err := NewImageVariants(t.Context(), d.name, d.file(), nil, o)
				if err != nil {
					t.Fatal(err)
				}
				if len(v.Faults) > 0 || v.Annotations != d.name {
					t.Errorf("%s: annotations %q, faults %q", d.name, v.Annotations, v.Faults)
				}
				for i := range copies + 1 {
					one, err := v.Variant(i)
					if err != nil {
						t.Fatal(err)
					}
					dropped += one.Dropped
					want := stored[fmt.Sprint(d.name, i)]
					ops, err := json.Marshal(one.Draw)
					if err != nil {
						t.Fatal(err)
					}
					if stored := string(want[imagekey.Ops].([][]byte)[0]); stored != string(ops) {
						t.Fatalf("%s, copy %d: steps %s, stored are %s", d.name, i, ops, stored)
					}
					sameObjects(t, fmt.Sprintf("%s, copy %d", d.name, i), one.Record, want)
				}
			}
			if dropped-before != sum.Dropped {
				t.Errorf("%s: %d objects dropped, of the set %d", spec, dropped-before, sum.Dropped)
			}
		}
	}
	if dropped == 0 {
		t.Error("no object was dropped")
	}
}

// sameObjects compares the features of objects of a record with those that are stored.
func sameObjects(t *testing.T, name string, record []byte, stored map[string]any) {
	t.Helper()
	var e tfrecord.Example
	if err := e.Parse(record); err != nil {
		t.Fatal(err)
	}
	n := 0
	for key, want := range stored {
		if !carried.IsObjects(key) {
			continue
		}
		n++
		f, ok := e.Get(key)
		var got any
		switch f.Kind() {
		case tfrecord.KindFloat:
			got = f.AppendFloats(nil)
		case tfrecord.KindInt64:
			got = f.AppendInt64s(nil)
		case tfrecord.KindBytes:
			got = f.AppendBytes(nil)
		}
		if !ok || f.Len() > 0 && !cmp.Equal(got, want) {
			t.Errorf("%s: %s is %v, stored is %v", name, key, got, want)
		}
	}
	if n < 6 || n != e.Len() {
		t.Errorf("%s: %d features are stored, and %d of the variant", name, n, e.Len())
	}
}

// TestImageVariantsMasks compares the masks of classes of variants with those that are stored.
func TestImageVariantsMasks(t *testing.T) {
	src, masks, out := t.TempDir(), t.TempDir(), t.TempDir()
	maskOf := func(w int) []byte {
		m := augment.Image{Pix: make([]uint8, w*12), Width: w, Height: 12, Channels: 1, Stride: w}
		for i := range m.Pix {
			m.Pix[i] = uint8(i % 7)
		}
		data, err := augment.AppendPNG(nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	image, mask := pngOf(3), maskOf(19)
	put(t, src, "a/1.png", image)
	put(t, masks, "a/1.png", mask)
	o := ImageOptions{
		Options: Options{Shards: 1, Seed: 8}, Encode: EncodeSpec{Format: PNG}, Labels: LabelSpec{None: true},
		Augment: AugmentSpec{Policy: policy(t, "rotate:40|hflip"), Copies: 4}, Annotations: AnnotationSpec{Masks: masks},
	}
	mustImages(t, src, out, o)
	o.Annotations.Masks = ""
	v, err := NewImageVariants(t.Context(), "a/1.png", image, mask, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range examples(t, out, "train") {
		one, err := v.Variant(int(want[imagekey.Copy].([]int64)[0]))
		if err != nil {
			t.Fatal(err)
		}
		var e tfrecord.Example
		if err := e.Parse(one.Record); err != nil {
			t.Fatal(err)
		}
		f, _ := e.Get(objects.KeySegmentation)
		if got, _ := f.Bytes(); string(got) != string(want[objects.KeySegmentation].([][]byte)[0]) {
			t.Errorf("copy %v: the mask differs", want[imagekey.Copy])
		}
	}
	if v, err = NewImageVariants(t.Context(), "a/1.png", image, maskOf(18), o); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Variant(1); err == nil || !strings.Contains(err.Error(), "mask of a/1.png") {
		t.Errorf("a mask of another size: %v", err)
	}
}

func TestImageVariantsFindAnnotations(t *testing.T) {
	dir, data := t.TempDir(), pngOf(1)
	for _, name := range []string{"train/1", "val/1", "val/2"} {
		put(t, dir, name+".xml", []byte(`<annotation><object><name>`+strings.ReplaceAll(name, "/", "_")+`</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></object><object><name>cat</name></object></annotation>`))
	}
	other := filepath.Join(dir, "val")
	for _, c := range []struct {
		key       string
		files     []string
		want, err string
	}{
		{key: "val/1.jpg", files: []string{dir}, want: "val/1.xml"},
		{key: "VAL/1.JPG", files: []string{dir}, want: "val/1.xml"},
		{key: "2.jpg", files: []string{dir}, want: "val/2.xml"},
		{key: "1.jpg", files: []string{dir}, err: `"train/1.xml" or "val/1.xml"; remove one`},
		{key: "3.jpg", files: []string{dir}, err: `no annotations of 3.jpg: there are those of train/1.xml, val/1.xml, val/2.xml; give the image`},
		{key: "2.jpg", files: []string{dir, other}, err: "both annotate 2.jpg"},
	} {
		o := ImageOptions{Augment: AugmentSpec{Policy: policy(t, "hflip")}}
		for _, f := range c.files {
			o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Path: f})
		}
		v, err := NewImageVariants(t.Context(), c.key, data, nil, o)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.key, err, c.err)
			}
		case err != nil || v.Annotations != c.want || len(v.Faults) != 1 || !strings.Contains(v.Faults[0], "object 2"):
			t.Errorf("%s: %+v, %v", c.key, v, err)
		}
	}
}
