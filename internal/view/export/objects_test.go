package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// object is one of a record of these tests, in pixels.
type object struct {
	id   int64
	text string
	box  [4]float64
}

// drawn is a record of an image of w x h pixels with objects. Features of more follow.
func drawn(name string, w, h int, list []object, more ...exporttest.Build) exporttest.Build {
	return func(b *tfrecord.Builder) {
		b.String(imagekey.Encoded, exporttest.JPEGBytes+name)
		b.String(imagekey.Filename, name)
		b.Int64(imagekey.Width, int64(w))
		b.Int64(imagekey.Height, int64(h))
		var sides [4][]float32
		var ids []int64
		var texts []string
		for _, o := range list {
			for k := range sides {
				sides[k] = append(sides[k], float32(o.box[k]/float64([]int{w, h}[k%2])))
			}
			ids, texts = append(ids, o.id), append(texts, o.text)
		}
		for k, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
			b.Float(key, sides[k]...)
		}
		b.Int64(objects.KeyLabel, ids...)
		b.String(objects.KeyText, texts...)
		for _, add := range more {
			add(b)
		}
	}
}

func with(key string, values ...any) exporttest.Build {
	return func(b *tfrecord.Builder) {
		switch v := values[0].(type) {
		case string:
			list := make([]string, len(values))
			for i := range values {
				list[i] = values[i].(string)
			}
			b.String(key, list...)
		case int:
			list := make([]int64, len(values))
			for i := range values {
				list[i] = int64(values[i].(int))
			}
			b.Int64(key, list...)
		case float64:
			list := make([]float32, len(values))
			for i := range values {
				list[i] = float32(values[i].(float64))
			}
			b.Float(key, list...)
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
}

// odd are images with what formats have to keep apart.
func odd(t *testing.T) string {
	mask := augment.Image{Pix: make([]uint8, 40*30), Width: 40, Height: 30, Channels: 1, Stride: 40}
	for y := 2; y < 7; y++ {
		for x := 3; x < 13; x++ {
			mask.Pix[y*40+x] = 255
		}
	}
	png, err := augment.AppendPNG(nil, &mask)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := augment.AppendPNG(nil, &augment.Image{Pix: bytes.Repeat([]uint8{0, 15, 255, 3}, 12), Width: 8, Height: 6, Channels: 1, Stride: 8})
	if err != nil {
		t.Fatal(err)
	}
	return exporttest.WriteRecords(t, "train.tfrecord",
		drawn("train/a/1.jpg", 40, 30, []object{{90, "<ä> & 'b'", [4]float64{3, 2, 13, 7}}, {7, "box", [4]float64{0, 0, 12.34, 30}}},
			with(objects.KeySourceID, "1007"), with(objects.KeyCrowd, 0, 1), with(objects.KeyArea, 50.0, 370.25),
			with(objects.KeyMask, string(png), ""), with(objects.KeyDifficult, 0, 1), with(objects.KeyTruncated, 1, 0), with(objects.KeyView, "Left", "")),
		drawn("a/none.png", 8, 6, nil, with(objects.KeySourceID, "-3"), with(objects.KeySegmentation, string(classes))),
	)
}

func exportObjects(t *testing.T, format spec.Format, in string) (dir, notes string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	var said []string
	if _, err := exportTo(t, dir, spec.Options{Format: format, Note: func(s string) { said = append(said, s) }}, in); err != nil {
		t.Fatal(err)
	}
	return dir, strings.Join(said, "; ")
}

func contentOf(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCOCO(t *testing.T) {
	dir, notes := exportObjects(t, spec.COCO, odd(t))
	if diff := cmp.Diff([]string{"annotations/instances_train.json", "train/a/1.jpg", "train/a/none.jpg"}, exporttest.Tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	want := `{"info":{},"licenses":[],"categories":[{"id":7,"name":"box","supercategory":""},{"id":90,"name":"\u003cä\u003e \u0026 'b'","supercategory":""}],
"images":[
{"id":1007,"file_name":"a/1.jpg","width":40,"height":30},
{"id":-3,"file_name":"a/none.jpg","width":8,"height":6}],
"annotations":[
{"id":1,"image_id":1007,"category_id":90,"bbox":[3,2,10,5],"area":50,"iscrowd":0,"segmentation":{"size":[30,40],"counts":"l25i000000000000000000Xi0"}},
{"id":2,"image_id":1007,"category_id":7,"bbox":[0,0,12.34,30],"area":370.25,"iscrowd":1}]}
`
	if diff := cmp.Diff(want, contentOf(t, dir, "annotations/instances_train.json")); diff != "" {
		t.Error(diff)
	}
	if want := "coco has no place for image/object/difficult, image/object/truncated, image/object/view, image/segmentation/class/encoded: left out"; notes != want {
		t.Error(notes)
	}
}

func TestVOC(t *testing.T) {
	dir, notes := exportObjects(t, spec.VOC, odd(t))
	if diff := cmp.Diff([]string{"Annotations/a/none.xml", "Annotations/train/a/1.xml", "ImageSets/Main/train.txt",
		"JPEGImages/a/none.jpg", "JPEGImages/train/a/1.jpg", "SegmentationClass/a/none.png", "SegmentationObject/train/a/1.png"}, exporttest.Tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("train/a/1\na/none\n", contentOf(t, dir, "ImageSets/Main/train.txt")); diff != "" {
		t.Error(diff)
	}
	want := `<annotation>
	<folder>JPEGImages</folder>
	<filename>train/a/1.jpg</filename>
	<size>
		<width>40</width>
		<height>30</height>
		<depth>3</depth>
	</size>
	<segmented>1</segmented>
	<object>
		<name>&lt;ä&gt; &amp; &#39;b&#39;</name>
		<pose>Left</pose>
		<truncated>1</truncated>
		<difficult>0</difficult>
		<bndbox>
			<xmin>3</xmin>
			<ymin>2</ymin>
			<xmax>13</xmax>
			<ymax>7</ymax>
		</bndbox>
	</object>
	<object>
		<name>box</name>
		<truncated>0</truncated>
		<difficult>1</difficult>
		<bndbox>
			<xmin>0</xmin>
			<ymin>0</ymin>
			<xmax>12.34</xmax>
			<ymax>30</ymax>
		</bndbox>
	</object>
</annotation>
`
	if diff := cmp.Diff(want, contentOf(t, dir, "Annotations/train/a/1.xml")); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(contentOf(t, dir, "Annotations/a/none.xml"), "<segmented>1</segmented>\n</annotation>") {
		t.Error("the image with a semantic mask")
	}
	for name, want := range map[string]map[uint8]int{
		"SegmentationClass/a/none.png":     {0: 12, 15: 12, 255: 12, 3: 12},
		"SegmentationObject/train/a/1.png": {0: 1150, 1: 50},
	} {
		decoded, err := png.Decode(strings.NewReader(contentOf(t, dir, name)))
		if err != nil {
			t.Fatal(err)
		}
		got := map[uint8]int{}
		for _, v := range decoded.(*image.Paletted).Pix {
			got[v]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(name, diff)
		}
		// A cat is 8, a person 15 and the border 255 in VOC's own files.
		for index, want := range map[int]color.RGBA{8: {64, 0, 0, 255}, 15: {192, 128, 128, 255}, 255: {224, 224, 192, 255}} {
			if got := decoded.(*image.Paletted).Palette[index]; got != want {
				t.Errorf("%s: index %d is %v, want %v", name, index, got, want)
			}
		}
	}
	if want := "voc has no place for image/object/is_crowd, image/object/area: left out"; notes != want {
		t.Error(notes)
	}
}

func TestYOLO(t *testing.T) {
	dir, notes := exportObjects(t, spec.YOLO, odd(t))
	if diff := cmp.Diff([]string{"classes.txt", "data.yaml", "images/train/a/1.jpg", "images/train/a/none.jpg", "labels/train/a/1.txt", "labels/train/a/none.txt"}, exporttest.Tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"classes.txt":             "box\n<ä> & 'b'\n",
		"data.yaml":               "names:\n    0: box\n    1: <ä> & 'b'\ntrain: images/train\n",
		"labels/train/a/1.txt":    "1 0.199999996 0.150000002 0.249999985 0.166666664\n0 0.154249996 0.500000000 0.308499992 1.000000000\n",
		"labels/train/a/none.txt": "",
	} {
		if diff := cmp.Diff(want, contentOf(t, dir, name)); diff != "" {
			t.Error(name, diff)
		}
	}
	if !strings.Contains(notes, "yolo has no place for image/object/difficult, ") || !strings.Contains(notes, "no split val") {
		t.Error(notes)
	}
}

// Features that are neither of the image nor of what formats know of objects are named, ten at most.
func TestOtherFeaturesAreNoted(t *testing.T) {
	more := []exporttest.Build{with("caption", "a"), with("image/object/weight", 0.5), with("image/colorspace", "RGB"), with("augment/copy", 1)}
	_, notes := exportObjects(t, spec.COCO, exporttest.WriteRecords(t, "x", drawn("1", 9, 9, nil, more...), drawn("2", 9, 9, nil, with("tags", "b"))))
	if want := "coco has no place for caption, image/object/weight, tags: left out"; !strings.Contains(notes, want) {
		t.Errorf("%s, want %s", notes, want)
	}
	more = nil
	const most = 10 // other features are named
	for i := range 3 * most {
		more = append(more, with(fmt.Sprintf("f%02d", i), "x"))
	}
	if _, notes = exportObjects(t, spec.VOC, exporttest.WriteRecords(t, "x", drawn("1", 9, 9, nil, more...))); strings.Count(notes, ", f") != most-1 {
		t.Error(notes)
	}
}

// TestVOCCoversMasks: of objects over each other, the later ones have the pixels, and 254 have any.
func TestVOCCoversMasks(t *testing.T) {
	encode := func(pix ...uint8) string {
		mask, err := augment.AppendPNG(nil, &augment.Image{Pix: pix, Width: 2, Height: 2, Channels: 1, Stride: 2})
		if err != nil {
			t.Fatal(err)
		}
		return string(mask)
	}
	full := encode(1, 1, 1, 1)
	list, masks := make([]object, 256), make([]any, 256)
	for i := range list {
		list[i], masks[i] = object{id: 1, text: "a", box: [4]float64{0, 0, 2, 2}}, full
	}
	dir, notes := exportObjects(t, spec.VOC, exporttest.WriteRecords(t, "x", drawn("1.jpg", 2, 2, list, with(objects.KeyMask, masks...))))
	if !strings.Contains(notes, "later ones cover all of the masks of 253 objects, which have none when read back; voc has masks of 254 objects in an image: the masks of 2 objects after these") {
		t.Error(notes)
	}
	decoded, err := png.Decode(strings.NewReader(contentOf(t, dir, "SegmentationObject/1.png")))
	if err != nil || !bytes.Equal(decoded.(*image.Paletted).Pix, bytes.Repeat([]uint8{254}, 4)) {
		t.Errorf("%v, %v", decoded, err)
	}
	if strings.Contains(notes, "cover parts") {
		t.Error(notes)
	}
	for _, c := range []struct {
		masks      []any
		parts, all string
	}{
		{[]any{encode(1, 1, 0, 0), encode(0, 1, 1, 0), encode(0, 0, 0, 1)}, "1 object", ""},
		{[]any{encode(1, 1, 0, 0), encode(1, 0, 0, 0), encode(0, 1, 0, 0)}, "", "1 object"}, // by two
		{[]any{encode(1, 0, 0, 0), full, encode(0, 1, 1, 0)}, "1 object", "1 object"},
		{[]any{encode(1, 0, 0, 0), encode(0, 0, 0, 0), encode(0, 1, 0, 0)}, "", ""},
	} {
		_, notes := exportObjects(t, spec.VOC, exporttest.WriteRecords(t, "x", drawn("1.jpg", 2, 2, list[:3], with(objects.KeyMask, c.masks...))))
		if strings.Contains(notes, "parts of the masks of "+c.parts) != (c.parts != "") || strings.Contains(notes, "all of the masks of "+c.all) != (c.all != "") {
			t.Errorf("want parts of %q, all of %q: %s", c.parts, c.all, notes)
		}
	}
}

// TestNegativeClassIsNoted: COCO takes the id, and what reads it may not.
func TestNegativeClassIsNoted(t *testing.T) {
	box := [4]float64{1, 1, 2, 2}
	for id, want := range map[int64]bool{-1: true, 0: false} {
		in := exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{id: 4, text: "b", box: box}, {id: id, text: "a", box: box}}))
		if _, notes := exportObjects(t, spec.COCO, in); strings.Contains(notes, "class a has the id -1: tools that read coco, tfrec among them, want ids from 0") != want {
			t.Errorf("id %d: %s", id, notes)
		}
	}
}

// Images whose ids are not integers, or not unique, have the numbers of their records. Labels
// without names, and names without labels, are classes all the same.
func TestCOCOWithoutIDs(t *testing.T) {
	box := [4]float64{1, 1, 2, 2}
	for name, in := range map[string]string{
		"twice": exporttest.WriteRecords(t, "x", drawn("1", 9, 9, nil, with(objects.KeySourceID, "7")), drawn("2", 9, 9, []object{{id: 2, box: box}}, with(objects.KeySourceID, "7"))),
		"text":  exporttest.WriteRecords(t, "x", drawn("1", 9, 9, nil, with(objects.KeySourceID, "07")), drawn("2", 9, 9, []object{{id: 2, box: box}}, with(objects.KeySourceID, "8"))),
		"none":  exporttest.WriteRecords(t, "x", drawn("1", 9, 9, nil), drawn("2", 9, 9, []object{{id: 2, box: box}}, with(objects.KeySourceID, "8"))),
	} {
		dir, notes := exportObjects(t, spec.COCO, in)
		reason := "image/source_id: it is not an integer in every record"
		if name == "twice" {
			reason = "image/source_id: it repeats in the split train"
		}
		if !strings.Contains(notes, reason) {
			t.Errorf("%s: %s", name, notes)
		}
		got := contentOf(t, dir, "annotations/instances_train.json")
		for _, want := range []string{`{"id":1,"file_name":"1.jpg"`, `{"id":2,"file_name":"2.jpg"`, `"image_id":2,"category_id":2,"bbox":[1,1,1,1],"area":1,"iscrowd":0}`, `{"id":2,"name":"2"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is not in %s", name, want, got)
			}
		}
	}
}

func TestObjectsRefused(t *testing.T) {
	box := []object{{1, "a", [4]float64{1, 1, 2, 2}}}
	bad := func(more ...exporttest.Build) string {
		return exporttest.WriteRecords(t, "x", drawn("1", 9, 9, box, more...))
	}
	for want, c := range map[string]struct {
		in      string
		formats []spec.Format
	}{
		"no record has boxes (image/object/bbox/xmin":                    {exporttest.WriteRecords(t, "x", exporttest.Photo("1.jpg", "a")), []spec.Format{spec.COCO, spec.VOC, spec.YOLO}},
		"record 0: image/object/bbox/xmin has 1 values and":              {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, nil, with(objects.KeyXMin, 1.5))), []spec.Format{spec.COCO, spec.VOC, spec.YOLO}},
		"record 0: the box of its object 0 is [NaN ":                     {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, "a", [4]float64{math.NaN(), 0, 1, 1}}})), []spec.Format{spec.COCO, spec.VOC, spec.YOLO}},
		"object 0 is [2 0 3 1]: want shares of the image":                {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, "a", [4]float64{18, 0, 27, 9}}})), []spec.Format{spec.COCO, spec.VOC, spec.YOLO}},
		"object 0 is [1 0 0 1]: want xmin, ymin, xmax":                   {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, "a", [4]float64{9, 0, 0, 9}}})), []spec.Format{spec.COCO, spec.VOC, spec.YOLO}},
		"class 1 and class 4 are both called \"a\"":                      {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, "a", box[0].box}, {4, "a ", box[0].box}})), []spec.Format{spec.VOC, spec.YOLO}},
		"the name of class 1 begins or ends with space: \" a\"":          {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, " a", box[0].box}})), []spec.Format{spec.VOC, spec.YOLO}},
		"image/object/area of its object 0 is +Inf":                      {bad(with(objects.KeyArea, math.Inf(1))), []spec.Format{spec.COCO}},
		"record 0: the mask of its object 0: ":                           {bad(with(objects.KeyMask, "none")), []spec.Format{spec.COCO}},
		"image/width is [0]: want the size":                              {exporttest.WriteRecords(t, "x", drawn("1", 0, 9, nil)), []spec.Format{spec.COCO, spec.VOC}},
		"it has no image/width, and its image does not say it":           {exporttest.WriteRecords(t, "x", exporttest.Photo("1.jpg", "a"), func(b *tfrecord.Builder) { drawn("1", 1, 1, nil)(b) }), []spec.Format{spec.COCO, spec.VOC, spec.YOLO}},
		"the name of class 1 cannot be a line of classes.txt: \"a\\nb\"": {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, "a\nb", box[0].box}})), []spec.Format{spec.YOLO}},
		"the name of class 1 cannot be written as XML: \"a\\x00\"":       {exporttest.WriteRecords(t, "x", drawn("1", 9, 9, []object{{1, "a\x00", box[0].box}})), []spec.Format{spec.VOC}},
		"cannot be written as XML: \"\\x01\"":                            {bad(with(objects.KeyView, "\x01")), []spec.Format{spec.VOC}},
		"differs from it in case or extension alone":                     {exporttest.WriteRecords(t, "x", drawn("1.jpg", 9, 9, box), drawn("1.jpeg", 9, 9, box)), []spec.Format{spec.VOC, spec.YOLO}},
		"image/segmentation/class/encoded is not a PNG":                  {bad(with(objects.KeySegmentation, "x")), []spec.Format{spec.VOC}},
	} {
		for _, format := range c.formats {
			dir := t.TempDir()
			_, err := exportTo(t, filepath.Join(dir, "out"), spec.Options{Format: format}, c.in)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", format, err, want)
			}
			exporttest.WantOnly(t, dir)
		}
	}
}

// A variant, and images that differ in their extension alone, get names of their own, which those
// of their annotations follow.
func TestObjectsOfOneName(t *testing.T) {
	box := []object{{1, "a", [4]float64{1, 1, 2, 2}}}
	in := exporttest.WriteRecords(t, "x", drawn("d/1.jpg", 9, 9, box), drawn("d/1.jpg", 9, 9, nil, with(imagekey.Copy, 1)), drawn("d/1.jpeg", 9, 9, nil), drawn("../D/1.jpg", 9, 9, nil))
	dir := filepath.Join(t.TempDir(), "out")
	report, err := exportTo(t, dir, spec.Options{Format: spec.YOLO, OnCollision: spec.Number}, in)
	if err != nil || report.Numbered != 1 || report.Renamed != 1 || report.Records != 4 {
		t.Fatalf("%+v, %v", report, err)
	}
	want := []string{"classes.txt", "data.yaml"}
	for _, ext := range []string{"images/train/%s.jpg", "labels/train/%s.txt"} {
		for _, name := range []string{"%2E%2E/D/1", "d/1#1", "d/1", "d/1~2"} {
			want = append(want, fmt.Sprintf(ext, name))
		}
	}
	want[5] = "images/train/d/1~2.jpeg"
	if diff := cmp.Diff(want, exporttest.Tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// Splits have a JSON each, ids do not repeat in them, and a second run compares everything.
func TestCOCOSplits(t *testing.T) {
	set := t.TempDir()
	total := 0
	for i, split := range []string{"train", "val", "test"} {
		var builds []exporttest.Build
		for k := range 30 * (i + 1) {
			list := make([]object, k%4)
			for j := range list {
				list[j] = object{int64(1 + j), "", [4]float64{1, 2, float64(3 + j), 4}}
			}
			total += len(list)
			builds = append(builds, drawn(fmt.Sprintf("%s/%d.jpg", split, k), 50, 60, list))
		}
		data := contentOf(t, exporttest.WriteRecords(t, "x", builds...))
		if err := os.WriteFile(filepath.Join(set, fmt.Sprintf("d-%s.tfrecord-00000-of-00001", split)), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, _ := exportObjects(t, spec.COCO, set)
	images, annotations := map[int64]bool{}, map[int64]bool{}
	for _, split := range []string{"train", "val", "test"} {
		var got struct {
			Images []struct {
				ID   int64
				File string `json:"file_name"`
			}
			Annotations []struct {
				ID    int64
				Image int64 `json:"image_id"`
			}
		}
		if err := json.Unmarshal([]byte(contentOf(t, dir, "annotations/instances_"+split+".json")), &got); err != nil {
			t.Fatal(err)
		}
		for _, im := range got.Images {
			images[im.ID] = true
			if _, err := os.Stat(filepath.Join(dir, split, im.File)); err != nil {
				t.Error(err)
			}
		}
		for _, a := range got.Annotations {
			annotations[a.ID] = true
			if !images[a.Image] {
				t.Errorf("annotation %d is of no image", a.ID)
			}
		}
	}
	if len(images) != 180 || len(annotations) != total {
		t.Errorf("%d images, %d of %d annotations", len(images), len(annotations), total)
	}
}

// Splits may have the same ids: their files are read one by one.
func TestCOCOSplitsShareIDs(t *testing.T) {
	set := t.TempDir()
	for _, split := range []string{"train", "val"} {
		data := contentOf(t, exporttest.WriteRecords(t, "x", drawn(split+"/1.jpg", 9, 9, nil, with(objects.KeySourceID, "70")), drawn(split+"/2.jpg", 9, 9, nil, with(objects.KeySourceID, "5"))))
		if err := os.WriteFile(filepath.Join(set, "d-"+split+".tfrecord-00000-of-00001"), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir, notes := exportObjects(t, spec.COCO, set)
	for _, split := range []string{"train", "val"} {
		got := contentOf(t, dir, "annotations/instances_"+split+".json")
		if !strings.Contains(got, `{"id":70,"file_name":"1.jpg"`) || !strings.Contains(got, `{"id":5,"file_name":"2.jpg"`) || notes != "" {
			t.Error(notes, got)
		}
	}
}

// data.yaml has keys of its own, which are no names of splits.
func TestYOLORefusesSplitsOfOtherMeaning(t *testing.T) {
	for _, split := range []string{"path", "names", "nc", "download", "kpt_shape", "channels"} {
		set := t.TempDir()
		data := contentOf(t, exporttest.WriteRecords(t, "x", drawn("1.jpg", 9, 9, []object{{1, "a", [4]float64{1, 1, 2, 2}}})))
		if err := os.WriteFile(filepath.Join(set, "d-"+split+".tfrecord-00000-of-00001"), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := exportTo(t, filepath.Join(t.TempDir(), "out"), spec.Options{Format: spec.YOLO}, set)
		if err == nil || !strings.Contains(err.Error(), "another meaning for \""+split) {
			t.Errorf("%s: %v", split, err)
		}
	}
}
