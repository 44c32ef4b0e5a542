package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/verify"
)

// TestAnnotatedRuns: the bytes do not depend on workers or tasks, a second run does nothing, and
// one changed object redoes one shard.
func TestAnnotatedRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	src, file, drawings := drawingsIn(t, r, 30)
	o := with(file, ImageOptions{
		Augment: AugmentSpec{Policy: policy(t, "random_crop:30|hflip:0.5"), Copies: 2, KeepOriginal: true},
		Encode:  EncodeSpec{Format: PNG}, Options: Options{Shards: 5, Workers: 1, Even: true},
	})
	o.Annotations.InstanceMasks = true
	out, other := t.TempDir(), t.TempDir()
	first := mustImages(t, src, out, o)
	o.Workers = 3
	mustImages(t, src, other, o)
	sameSet(t, contents(t, other), contents(t, out))
	if _, err := os.Stat(filepath.Join(out, manifest.LabelMapFile)); err != nil {
		t.Error(err)
	}

	tasks := t.TempDir()
	for i := range 3 {
		mustImages(t, src, tasks, taskOf(o, i, 3))
	}
	for _, status := range []Status{Written, UpToDate} {
		s := mustFinalize(t, tasks)
		if s.Status != status || *s.AnnotationCounts != *first.AnnotationCounts || s.Samples != first.Samples {
			t.Errorf("finalized: %+v", s)
		}
	}
	sameSet(t, contents(t, tasks), contents(t, out))

	again := func(status Status, written int) *Summary {
		t.Helper()
		s := mustImages(t, src, out, o)
		if s.Status != status || s.ShardsWritten != written {
			t.Errorf("%s, %d shards written: want %s, %d", s.Status, s.ShardsWritten, status, written)
		}
		return s
	}
	if s := again(UpToDate, 0); *s.AnnotationCounts != *first.AnnotationCounts {
		t.Errorf("%+v, first %+v", s.AnnotationCounts, first.AnnotationCounts)
	}
	changed := slices.IndexFunc(drawings, func(d drawing) bool { return len(d.rects) > 1 })
	box := &drawings[changed].rects[0].box
	box.Max.X--
	put(t, filepath.Dir(file), "a.json", cocoOf(drawings))
	again(Updated, 1)
	fresh := t.TempDir()
	mustImages(t, src, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))

	// Without its state, nothing says how many objects the shards have and lack.
	if err := os.RemoveAll(filepath.Join(out, shard.StateDir)); err != nil {
		t.Fatal(err)
	}
	again(Updated, 5)
	sameSet(t, contents(t, out), contents(t, fresh))
	if report, err := verify.Files(context.Background(), []string{out}, verify.Options{}); err != nil || !report.OK {
		t.Errorf("verify: %v %+v", err, report)
	}
}

// TestRenamedAnnotations: ids of annotations and the name of their file redo a shard only where its
// ledger entries have them.
func TestRenamedAnnotations(t *testing.T) {
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(9, 3)), 30)
	outside := map[string]any{"image_id": 104, "category_id": hueIDs[0], "bbox": []int{5000, 5, 9, 9}, "iscrowd": 0}
	unknown := map[string]any{"image_id": 109, "category_id": 5555, "bbox": []int{5, 5, 9, 9}, "iscrowd": 0}
	annotate := func(file string, plus int, faults ...map[string]any) {
		var set map[string]any
		if err := json.Unmarshal(cocoOf(drawings, faults...), &set); err != nil {
			t.Fatal(err)
		}
		for i, a := range set["annotations"].([]any) {
			if a.(map[string]any)["id"] = i + plus; plus < 0 {
				delete(a.(map[string]any), "id")
			}
		}
		data, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Dir(file), filepath.Base(file), data)
	}
	out := t.TempDir()
	o := with(file, ImageOptions{Options: Options{Shards: 6, MaxErrors: Tolerance{Count: 9}}})
	run := func(want Status, written int) {
		t.Helper()
		if s := mustImages(t, src, out, o); s.Status != want || s.ShardsWritten != written {
			t.Errorf("%s, %d shards written, want %s, %d", s.Status, s.ShardsWritten, want, written)
		}
		fresh := t.TempDir()
		mustImages(t, src, fresh, o)
		sameSet(t, contents(t, out), contents(t, fresh))
	}
	annotate(file, 1)
	run(Written, 6)
	annotate(file, 500)
	run(UpToDate, 0)
	annotate(file, -1)
	run(UpToDate, 0)
	file = filepath.Join(filepath.Dir(file), "b.json")
	o = with(file, o)
	annotate(file, 1)
	run(UpToDate, 0)
	// One image has a fault that its size shows, the other one that reading shows.
	annotate(file, 1, outside, unknown)
	run(Updated, 2)
	run(UpToDate, 0)
	annotate(file, 700, outside, unknown)
	run(Updated, 1) // the other one is renamed in the ledger only
	annotate(file, 700)
	run(Updated, 2)
	annotate(file, 1)
	run(UpToDate, 0)
}

// TestUnusableAnnotations: each is in the ledger once, whatever the number of copies, and its image
// keeps its record.
func TestUnusableAnnotations(t *testing.T) {
	src, file := t.TempDir(), filepath.Join(t.TempDir(), "a.json")
	drawings := []drawing{{name: "a.png", w: 60, h: 50, orientation: 1, rects: []rect{{0, drawnBox}}}, {name: "b.png", w: 50, h: 60, orientation: 6}}
	for _, d := range drawings {
		put(t, src, d.name, d.file())
	}
	gone := drawing{name: "gone.png", w: 9, h: 9, orientation: 1, rects: []rect{{1, drawnBox}}}
	wrong := func(id, image int, box ...int) map[string]any {
		return map[string]any{"id": id, "image_id": image, "category_id": 3, "bbox": box, "area": 1, "iscrowd": 0}
	}
	put(t, filepath.Dir(file), "a.json", cocoOf(append(drawings, gone),
		wrong(901, 100, 60, 10, 5, 5), wrong(902, 101, -9, -9, 9, 9), wrong(903, 55, 1, 1, 5, 5), wrong(904, 101, 1, 1, 0, 5)))
	o := with(file, ImageOptions{Options: Options{Shards: 2}, Augment: AugmentSpec{Policy: policy(t, "hflip:0.5"), Copies: 3}})
	var bad *BadSamplesError
	out := t.TempDir()
	if _, err := Images(context.Background(), src, out, o); !errors.As(err, &bad) || bad.Summary.Errors != 5 {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
		t.Error("a failed run left a manifest")
	}
	o.MaxErrors = Tolerance{Count: 5}
	s := mustImages(t, src, out, o)
	if s.Samples != 7 || s.Records != 6 || s.Errors != 5 || s.Annotations != 3 || s.Dropped != 4 {
		t.Errorf("%+v %+v", s, s.AnnotationCounts)
	}
	want := []string{
		"a.json:903 0 annotation annotation 903: ", "a.png 0 annotation annotation 901: the box is outside of the image, which is 60x50",
		"b.png 0 annotation annotation 902: ", "b.png 0 annotation annotation 904: ", "gone.png 0 read ",
	}
	got := ledger(t, out)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("ledger: %q, want %q", got, want)
		}
	}
	if s := mustImages(t, src, out, o); s.Status != UpToDate || s.Errors != 5 || s.Samples != 7 {
		t.Errorf("again: %+v", s)
	}
	for i := range 2 { // a task does not stop for them
		mustImages(t, src, filepath.Join(out, "tasks"), taskOf(o, i, 2))
	}
	if s := mustFinalize(t, filepath.Join(out, "tasks")); s.Samples != 7 || s.Errors != 5 || s.Dropped != 4 {
		t.Errorf("finalized: %+v", s)
	}
}

// TestMasksOfARecordAreBounded: objects whose masks are too many are faults, the others are kept.
func TestMasksOfARecordAreBounded(t *testing.T) {
	defer func(n int) { placed.MaxMasks = n }(placed.MaxMasks)
	placed.MaxMasks = 150
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(8, 8)), 6)
	o := with(file, ImageOptions{Options: Options{MaxErrors: Tolerance{Count: 1000}, Shards: 1}})
	o.Annotations.InstanceMasks = true
	s := mustImages(t, src, t.TempDir(), o)
	if s.Records != 6 || s.Errors == 0 || s.Annotations == 0 || s.Annotations+s.Dropped != objectsOf(drawings) || s.Errors != s.Dropped {
		t.Errorf("%+v of %d objects", s, objectsOf(drawings))
	}
}

// TestImagesWithoutAnnotations: which images become records.
func TestImagesWithoutAnnotations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	src, file, drawings := drawingsIn(t, r, 12)
	empty := int64(0)
	for _, d := range drawings {
		if len(d.rects) == 0 {
			empty++
		}
	}
	put(t, src, "more/x.png", pngOf(1))
	for name, c := range map[string]struct {
		spec                       AnnotationSpec
		records, filtered, skipped int64
	}{
		"default": {AnnotationSpec{}, 12, 0, 1},
		"all":     {AnnotationSpec{KeepUnannotated: true}, 13, 0, 0},
		"objects": {AnnotationSpec{DropEmpty: true}, 12 - empty, empty, 1},
	} {
		out := t.TempDir()
		c.spec.Files = []AnnotationFile{{Path: file}}
		s := mustImages(t, src, out, ImageOptions{Options: Options{Name: "n"}, Annotations: c.spec})
		if s.Records != c.records || s.Filtered != c.filtered || s.SkippedFiles != c.skipped || s.Annotations != objectsOf(drawings) {
			t.Errorf("%s: %+v %+v", name, s, s.AnnotationCounts)
		}
		for _, e := range examples(t, out, "train") {
			if name := string(e[imagekey.Filename].([][]byte)[0]); name == "more/x.png" && string(e[objects.KeySourceID].([][]byte)[0]) != name {
				t.Errorf("%v", e)
			}
			if _, ok := e[imagekey.Label]; ok {
				t.Errorf("a label: %v", e)
			}
			if _, ok := e[objects.KeyXMin].([]float32); !ok {
				t.Errorf("no list of %s: %v", objects.KeyXMin, e)
			}
		}
	}
}

// TestAnnotationsObeyGlobs: an annotated image that a glob leaves out is not missing.
func TestAnnotationsObeyGlobs(t *testing.T) {
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(3, 8)), 6)
	for _, c := range []SelectSpec{{Exclude: []string{"d05.*"}}, {Include: []string{"d0[0-4].png"}}} {
		s := mustImages(t, src, t.TempDir(), with(file, ImageOptions{Select: c}))
		if s.Records != 5 || s.Errors != 0 || s.Annotations != objectsOf(drawings[:5]) {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// TestFilesOfOneName: entries of the ledger say which file they are of, and each counts.
func TestFilesOfOneName(t *testing.T) {
	src, _, drawings := drawingsIn(t, rand.New(rand.NewPCG(3, 8)), 6)
	dir, unknown := t.TempDir(), map[string]any{"id": 77, "image_id": 9999, "category_id": hueIDs[0], "bbox": []int{5, 5, 9, 9}}
	o := ImageOptions{Options: Options{Name: "n"}}
	for i, part := range [][]drawing{drawings[:3], drawings[3:]} {
		name := []string{"train", "val"}[i]
		put(t, filepath.Join(dir, name), "_annotations.coco.json", cocoOf(part, unknown))
		o.Annotations.Files = append(o.Annotations.Files, AnnotationFile{Split: name, Path: filepath.Join(dir, name, "_annotations.coco.json")})
	}
	var bad *BadSamplesError
	for _, share := range []float64{0.2, 0.4} { // two of six samples
		o.MaxErrors = Tolerance{Share: share}
		out := t.TempDir()
		s, err := Images(t.Context(), src, out, o)
		if errors.As(err, &bad) != (share < 0.3) {
			t.Errorf("share %v: %+v, %v", share, s, err)
		}
		if ledger := contents(t, out)["errors.jsonl"]; err == nil && (!strings.Contains(ledger, "train/_annotations.coco.json:77") || !strings.Contains(ledger, "val/_annotations.coco.json:77")) {
			t.Error(ledger)
		}
	}
}

// TestSplitsOfAnnotations: a file may say which split its images are in.
func TestSplitsOfAnnotations(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	src, _, drawings := drawingsIn(t, r, 10)
	dir := t.TempDir()
	put(t, dir, "a.json", cocoOf(drawings[:7]))
	put(t, dir, "b.json", cocoOf(drawings[7:]))
	o := ImageOptions{Options: Options{Name: "n"}}
	for _, name := range []string{"train=a.json", "holdout=b.json"} {
		split, file, _ := strings.Cut(name, "=")
		f, err := ParseAnnotationFile(split + "=" + filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		o.Annotations.Files = append(o.Annotations.Files, f)
	}
	out := t.TempDir()
	s := mustImages(t, src, out, o)
	if s.Splits["train"].Records != 7 || s.Splits["holdout"].Records != 3 || records(t, out, "holdout")["d09.png"] == nil {
		t.Errorf("%+v", s)
	}
	put(t, dir, "b.json", cocoOf(drawings[6:]))
	if _, err := Images(context.Background(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "both annotate d06.png") {
		t.Errorf("%v", err)
	}
}

// TestClassesOfAnnotations: the manifest has the names by their ids, with gaps.
func TestClassesOfAnnotations(t *testing.T) {
	src, file, _ := drawingsIn(t, rand.New(rand.NewPCG(1, 9)), 5)
	out := t.TempDir()
	mustImages(t, src, out, with(file, ImageOptions{}))
	var m struct{ Labels []string }
	data, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	want := make([]string, 91)
	want[3], want[7], want[90] = "hue1", "hue2", "hue0"
	if err != nil || !slices.Equal(m.Labels, want) {
		t.Errorf("%v %q", err, m.Labels)
	}
	data, _ = os.ReadFile(filepath.Join(out, manifest.LabelMapFile))
	if text := string(data); strings.Count(text, "item") != 3 || !strings.Contains(text, "id: 90") {
		t.Errorf("%s", text)
	}
}

// TestLabelMapOfAnnotations: classes of YOLO have the ids of a label map, and those of COCO must have
// them.
func TestLabelMapOfAnnotations(t *testing.T) {
	src, _, _ := drawingsIn(t, rand.New(rand.NewPCG(1, 9)), 1)
	notes := t.TempDir()
	put(t, notes, "d00.txt", []byte("1 0.5 0.5 0.2 0.2\n0 0.5 0.5 0.2 0.2\n"))
	put(t, notes, "classes.txt", []byte("cat\ndog\n"))
	coco := t.TempDir()
	put(t, coco, "a.json", []byte(`{"images": [{"id": 1, "file_name": "d00.png"}], "annotations": [], "categories": [{"id": 7, "name": "cat"}, {"id": 3, "name": "dog"}]}`))
	for classes, c := range map[string]struct{ file, labels, err string }{
		"item { id: 3 name: 'dog' } item { id: 7 name: 'cat' }": {notes, "   dog    cat", ""},
		"item { id: 3 name: 'dog' } item { id: 7 name: 'eel' }": {notes, "", `no line for "cat" of the annotations`},
		"item { id: 7 name: 'cat' }\nitem { id: 3 name: 'dog'}": {filepath.Join(coco, "a.json"), "   dog    cat", ""},
		"item { id: 1 name: 'cat' } item { id: 3 name: 'dog' }": {filepath.Join(coco, "a.json"), "", `the class "cat" has the id 1 in the list of classes, and 7 in the COCO file`},
	} {
		out := t.TempDir()
		_, err := Images(t.Context(), src, out, with(c.file, ImageOptions{Labels: LabelSpec{Classes: classFile(t, classes)}}))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", classes, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", classes, err)
			continue
		}
		m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File))
		if err != nil || strings.Join(m.Labels, " ") != c.labels {
			t.Errorf("%s: %v, %q", classes, err, m.Labels)
		}
	}
}

// TestClassesThatAreNoted: ids and names of COCO that others cannot use as they are.
func TestClassesThatAreNoted(t *testing.T) {
	src, _, _ := drawingsIn(t, rand.New(rand.NewPCG(1, 9)), 1)
	for categories, want := range map[string]string{
		`{"id": 1, "name": "a"}, {"id": 0, "name": "b"}`:                         "class b has id 0, which",
		`{"id": 1, "name": "a"}, {"id": 7, "name": "a"}, {"id": 8, "name": "a"}`: "classes 1 and 7 are both named a",
		`{"id": 1, "name": "a"}, {"id": 2, "name": "b"}`:                         "",
	} {
		dir := t.TempDir()
		put(t, dir, "a.json", []byte(`{"images": [{"id": 1, "file_name": "d00.png"}], "annotations": [], "categories": [`+categories+`]}`))
		var notes []string
		mustImages(t, src, t.TempDir(), with(filepath.Join(dir, "a.json"), ImageOptions{Options: Options{Note: func(s string) {
			if strings.HasPrefix(s, "class") {
				notes = append(notes, s)
			}
		}}}))
		if got := strings.Join(notes, "; "); !strings.HasPrefix(got, want) || want == "" && got != "" || len(notes) > 1 {
			t.Errorf("%s: %q, want %q", categories, got, want)
		}
	}
}

func TestAnnotationOptions(t *testing.T) {
	files := []AnnotationFile{{Path: "a.json"}}
	split := []AnnotationFile{{Path: "a.json", Split: "train"}}
	fill := uint8(3)
	for field, o := range map[string]ImageOptions{
		"AnnotationSpec.Format":          {Annotations: AnnotationSpec{Format: "xml", Files: files}},
		"AnnotationSpec.Files":           {Annotations: AnnotationSpec{Files: append(split, files...)}},
		"AnnotationSpec.InstanceMasks":   {Annotations: AnnotationSpec{InstanceMasks: true}},
		"AnnotationSpec.DropEmpty":       {Annotations: AnnotationSpec{DropEmpty: true}},
		"AnnotationSpec.MinVisibility":   {Annotations: AnnotationSpec{Files: files, MinVisibility: 1.5}},
		"AnnotationSpec.KeepUnannotated": {Annotations: AnnotationSpec{Files: split, KeepUnannotated: true}},
		"AnnotationSpec.MaskFill":        {Annotations: AnnotationSpec{MaskFill: &fill}},
		"LabelSpec.File":                 {Annotations: AnnotationSpec{Files: files}, Labels: LabelSpec{File: "t.csv"}},
		"LabelSpec.Offset":               {Annotations: AnnotationSpec{Files: files}, Labels: LabelSpec{Offset: 1}},
		"Options.Splits":                 {Annotations: AnnotationSpec{Files: split}, Options: Options{Splits: []SplitShare{{Name: "a", Share: 1}}}},
		"ImageOptions.ArchiveFormat":     {Annotations: AnnotationSpec{Files: files}, ArchiveFormat: WebDataset},
	} {
		o.Name = "n"
		var option *shard.OptionError
		if _, err := Images(context.Background(), t.TempDir(), t.TempDir(), o); !errors.As(err, &option) || option.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for text, want := range map[string]AnnotationFile{
		"a.json": {Path: "a.json"}, "train=dir/a": {Path: "dir/a", Split: "train"}, "./x=y": {Path: "./x=y"},
	} {
		if f, err := ParseAnnotationFile(text); err != nil || f != want {
			t.Errorf("%q: %+v %v", text, f, err)
		}
	}
	if _, err := ParseAnnotationFile("train="); err == nil {
		t.Error("an empty path")
	}
}

// drawnBox is where the only object of a drawing is.
var drawnBox = image.Rect(5, 5, 30, 20)

// grayOf draws a grayscale image that differs for every n.
func grayOf(w, h int, n uint8) []byte {
	im := image.NewGray(image.Rect(0, 0, w, h))
	for i := range im.Pix {
		im.Pix[i] = n + uint8(i)
	}
	return testpng.Encode(im)
}

// TestMasks: a mask is moved as its image is, beside any labels; one changed mask redoes one shard.
func TestMasks(t *testing.T) {
	src, dir := t.TempDir(), ""
	for i := range 12 {
		put(t, src, fmt.Sprintf("c%d/%02d.png", i%2, i), grayOf(20, 10, uint8(i)))
		put(t, src, fmt.Sprintf("masks/%02d.png", i), grayOf(20, 10, uint8(i)))
	}
	dir = filepath.Join(src, "masks")
	o := ImageOptions{
		Options: Options{Name: "n", Shards: 4, Even: true}, Encode: EncodeSpec{Format: PNG, Channels: 1},
		Resize:      augment.ResizeSpec{Width: 16, Height: 16, Fit: augment.Pad, Filter: augment.Nearest, PadColor: [3]uint8{255, 255, 255}, NoAntialias: true},
		Augment:     AugmentSpec{Policy: policy(t, "hflip:0.5"), Copies: 1},
		Annotations: AnnotationSpec{Masks: dir},
	}
	out := t.TempDir()
	s := mustImages(t, src, out, o)
	if s.Records != 12 || s.SkippedFiles != 12 || s.AnnotationCounts != nil {
		t.Errorf("%+v", s)
	}
	for _, e := range examples(t, out, "train") {
		im, mask := e[imagekey.Encoded].([][]byte)[0], e[objects.KeySegmentation].([][]byte)[0]
		if string(im) != string(mask) || e[imagekey.Label] == nil || string(e[objects.KeySegmentationFormat].([][]byte)[0]) != "png" {
			t.Errorf("%s: the mask is not the image", e[imagekey.Filename])
		}
	}
	if s := mustImages(t, src, out, o); s.Status != UpToDate {
		t.Errorf("again: %+v", s)
	}
	jpeg := o
	jpeg.Encode = EncodeSpec{}
	jpeg.Encode.Format = JPEG
	for name, o := range map[string]ImageOptions{"png tfrec 1": o, "; png tfrec 1": jpeg} {
		out := t.TempDir()
		mustImages(t, src, out, o)
		if m, err := manifest.Read(t.Context(), filepath.Join(out, manifest.File)); err != nil || !strings.HasSuffix(m.Encoder, name) || (m.Encoder == name) != (o.Encode.Format == PNG) {
			t.Errorf("the encoder is %q, %v", m.Encoder, err)
		}
	}
	change := func(name string, data []byte) {
		t.Helper()
		put(t, dir, name, data)
		if err := os.Chtimes(filepath.Join(dir, name), old, old.Add(1e9)); err != nil {
			t.Fatal(err)
		}
	}
	change("03.png", grayOf(20, 10, 77))
	if s := mustImages(t, src, out, o); s.ShardsWritten != 1 || s.ShardsKept != 3 {
		t.Errorf("one changed mask: %+v", s)
	}
	change("04.png", grayOf(10, 10, 4))
	change("05.png", []byte("no picture"))
	put(t, src, "c0/none.png", grayOf(20, 10, 1))
	o.MaxErrors = Tolerance{Count: 3}
	if s := mustImages(t, src, out, o); s.Errors != 3 || s.Records != 10 {
		t.Errorf("bad masks: %+v", s)
	}
	for i, want := range []string{"c0/04.png#1 0 decode mask 04.png is 10x10, and the image 20x10", "c0/none.png 0 read no mask", "c1/05.png#1 0 decode mask 05.png: "} {
		if got := ledger(t, out); len(got) != 3 || !strings.HasPrefix(got[i], want) {
			t.Fatalf("ledger: %q", got)
		}
	}
}

// TestMaskOfCompressedArchive: a changed mask is read without its image, which a compressed archive
// has only for the shards being made.
func TestMaskOfCompressedArchive(t *testing.T) {
	dir, files := t.TempDir(), map[string]string{}
	for i := range 8 {
		name := fmt.Sprintf("c/%d.png", i)
		files[name] = string(grayOf(20, 10, uint8(i)))
		put(t, dir, "masks/"+name, grayOf(20, 10, uint8(i)))
	}
	src := filepath.Join(dir, "a.tar.gz")
	packFiles(t, src, 1, files)
	o := ImageOptions{Options: Options{Name: "n", Shards: 4, Even: true}, Annotations: AnnotationSpec{Masks: filepath.Join(dir, "masks")}}
	out, fresh := t.TempDir(), t.TempDir()
	mustImages(t, src, out, o)
	put(t, dir, "masks/c/3.png", grayOf(20, 10, 77))
	if err := os.Chtimes(filepath.Join(dir, "masks/c/3.png"), old, old.Add(1e9)); err != nil {
		t.Fatal(err)
	}
	if s := mustImages(t, src, out, o); s.ShardsWritten != 1 || s.ShardsKept != 3 {
		t.Errorf("one changed mask: %+v", s)
	}
	mustImages(t, src, fresh, o)
	sameSet(t, contents(t, out), contents(t, fresh))
	if s := mustImages(t, src, out, o); s.Status != UpToDate {
		t.Errorf("again: %+v", s)
	}
}

// TestAnnotatedWithoutObjects: images without an object, as of a background, make a whole set, whose
// label map names no class.
func TestAnnotatedWithoutObjects(t *testing.T) {
	src, notes := directories(t, 1), filepath.Join(t.TempDir(), "a.json")
	var names []string
	if err := filepath.WalkDir(src, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(src, path)
			names = append(names, fmt.Sprintf(`{"id": %d, "file_name": %q, "width": 8, "height": 8}`, len(names)+1, filepath.ToSlash(rel)))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	text := `{"images": [` + strings.Join(names, ",") + `], "annotations": [], "categories": []}`
	if err := os.WriteFile(notes, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for _, status := range []Status{Written, UpToDate} {
		if s := mustImages(t, src, out, with(notes, ImageOptions{})); s.Status != status || s.Records == 0 {
			t.Errorf("%+v, want %s", s, status)
		}
		report, err := verify.Files(t.Context(), []string{out}, verify.Options{})
		if err != nil || !report.OK {
			t.Errorf("%v, %+v", err, report.Faults)
		}
	}
}
