package coco

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// read reads a file with the text.
func read(t testing.TB, text string, o annotation.Options) (*annotation.Set, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "instances.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(context.Background(), path, o)
}

// file is a file with images 7 (8 x 6 pixels) and 9 (of no known size), and categories 3 and 90.
func file(annotations string) string {
	return `{"info": {}, "annotations": [` + annotations + `], "images": [
		{"id": 7, "file_name": "b\\x.jpg", "width": 8, "height": 6, "license": null},
		{"id": 9, "file_name": "./a/y.jpg"}],
		"categories": [{"id": 90, "name": "last", "supercategory": "s"}, {"id": 3, "name": "first"}]}`
}

// one is an annotation of image 7 and category 3 with further members.
func one(more string) string {
	return file(`{"id": 1, "image_id": 7, "category_id": 3` + more + `}`)
}

const box = `, "bbox": [1, 2, 3, 2.5]`

func TestRead(t *testing.T) {
	set, err := read(t, file(`
		{"id": 5, "image_id": 7, "category_id": 90, "bbox": [1, 2, 3, 2.5], "area": 7.5, "iscrowd": 1, "segmentation": {"size": [6, 8], "counts": [5, 3, 40]}, "x": [{"y": null}]},
		{"segmentation": [[0, 0, 4, 0, 4, 4], [1, 1, 2.5e0, 1, 2, -2, 1, 3]], "bbox": [-1, 0, 10, 1e-3], "category_id": 3, "image_id": 9, "id": "q"},
		{"image_id": 7.0, "category_id": "3", "bbox": [7, 5, 1, 1], "area": null, "segmentation": {"counts": "52Y1", "size": [6, 8]}},
		{"id": 4, "image_id": "7", "category_id": 3, "bbox": [0, 0, 8, 6], "iscrowd": false, "segmentation": [0, 0, 8, 0, 8, 6]},
		{"id": 6, "image_id": 7, "category_id": 3, "bbox": [0, 0, 8, 6], "segmentation": []},
		{"id": 8, "image_id": 8, "category_id": 3, "bbox": [0, 0, 8, 6]}`), annotation.Options{Regions: true})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := &annotation.Set{
		Unused:  annotation.Fields{"x": 1, "categories[].supercategory": 1},
		Format:  "coco",
		Classes: []annotation.Class{{ID: 3, Name: "first"}, {ID: 90, Name: "last"}},
		Images: []annotation.Image{
			{Name: "a/y.jpg", Source: "instances.json", ID: "9", Objects: []annotation.Object{
				{Name: "q", Box: annotation.Box{XMin: -1, XMax: 9, YMax: 1e-3}, Area: nan, Region: &annotation.Region{Polygons: [][]float64{{0, 0, 4, 0, 4, 4}, {1, 1, 2.5, 1, 2, -2, 1, 3}}}},
			}},
			{Name: "b/x.jpg", Source: "instances.json", ID: "7", Width: 8, Height: 6, Objects: []annotation.Object{
				{Name: "5", Class: 1, Box: annotation.Box{XMin: 1, YMin: 2, XMax: 4, YMax: 4.5}, Area: 7.5, Crowd: 1, Region: &annotation.Region{Runs: []uint32{5, 3, 40}, Width: 8, Height: 6}},
				{Name: "annotation 3", Box: annotation.Box{XMin: 7, YMin: 5, XMax: 8, YMax: 6}, Area: nan, Region: &annotation.Region{Runs: []uint32{5, 2, 41}, Width: 8, Height: 6}},
				{Name: "4", Box: annotation.Box{XMax: 8, YMax: 6}, Area: nan, Region: &annotation.Region{Polygons: [][]float64{{0, 0, 8, 0, 8, 6}}}},
				{Name: "6", Box: annotation.Box{XMax: 8, YMax: 6}, Area: nan},
			}},
		},
		Faults: []annotation.Fault{{Name: "8", Image: "8", Source: "instances.json", Reason: "unknown image: image_id 8"}},
	}
	if diff := cmp.Diff(want, set, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	reasons := map[string]string{}
	for more, want := range map[string]string{
		``:                                                                    "no bbox",
		`, "bbox": null`:                                                      "bbox is not four numbers",
		`, "bbox": [1, 2, 3]`:                                                 "bbox is not four numbers",
		`, "bbox": [1, 2, 3, 4, 5]`:                                           "bbox is not four numbers",
		`, "bbox": [1, 2, "3", {}]`:                                           "bbox is not four numbers",
		`, "bbox": [1, 2, 0, 5]`:                                              "bbox is empty: width 0, height 5",
		`, "bbox": [1, 2, 3, -5e0]`:                                           "bbox is empty: width 3, height -5",
		`, "bbox": [1, 2, 3, NaN]`:                                            "bbox has numbers that are not finite",
		`, "bbox": [1, -Infinity, 3, 1]`:                                      "bbox has numbers that are not finite",
		`, "bbox": [1e400, 2, 3, 4]`:                                          "bbox has numbers that are not finite",
		`, "bbox": [1e308, 2, 1e308, 4]`:                                      "bbox has numbers that are not finite",
		box + `, "iscrowd": 2`:                                                "iscrowd is neither 0 nor 1",
		box + `, "iscrowd": []`:                                               "iscrowd is neither 0 nor 1",
		box + `, "bbox": [1, 2, 3, 4]`:                                        `"bbox" occurs twice`,
		box + `, "segmentation": "x"`:                                         "segmentation is neither polygons nor RLE",
		box + `, "segmentation": [{}]`:                                        "segmentation is neither polygons nor RLE",
		box + `, "segmentation": [[1, 1, 2, 2, 3, 3], 5]`:                     "segmentation is neither polygons nor RLE",
		box + `, "segmentation": [1, [1, 1, 2, 2, 3, 3]]`:                     "segmentation is neither polygons nor RLE",
		box + `, "segmentation": [[1, 1, 2, 2, 3, "3"]]`:                      "polygon 1 of 1: points that are not numbers",
		box + `, "segmentation": [[1, 1, 2, 2, 3, 3], [1, 2, 3, 4]]`:          "polygon 2 of 2: fewer than three points",
		box + `, "segmentation": [[1, 1, 2, 2, 3, 3, 4]]`:                     "polygon 1 of 1: an odd number of coordinates",
		box + `, "segmentation": [[1, 1, 2, 2, 3, 1e9]]`:                      "polygon 1 of 1: coordinates that are out of range or not finite",
		box + `, "segmentation": [[1, 1, 2, 2, 3, NaN]]`:                      "polygon 1 of 1: coordinates that are out of range or not finite",
		box + `, "segmentation": [[1, 1, 2, 2, 3, 3], []]`:                    "polygon 2 of 2: fewer than three points",
		box + `, "segmentation": [[1], [1, 1, 2, 2, 3, 3], [1, 2], []]`:       "polygon 1 of 4: an odd number of coordinates, and 2 more",
		box + `, "segmentation": {"x": 1}`:                                    "RLE without size or counts",
		box + `, "segmentation": {"size": [6.5, 8], "counts": [5, 3, 40]}`:    "RLE size is not height and width",
		box + `, "segmentation": {"size": [6, 8], "counts": [5, 3, 41]}`:      "RLE: runs of 49 pixels for the 48 of 8 x 6",
		box + `, "segmentation": {"size": [6, 8], "counts": [5, 3]}`:          "RLE: runs of 8 pixels for the 48 of 8 x 6",
		box + `, "segmentation": {"size": [6, 8], "counts": [5, -3, 46]}`:     "RLE counts are not a string or a list of lengths",
		box + `, "segmentation": {"size": [6, 8], "counts": [4294967296]}`:    "RLE counts are not a string or a list of lengths",
		box + `, "segmentation": {"size": [6, 8], "counts": 48}`:              "RLE counts are not a string or a list of lengths",
		box + `, "segmentation": {"size": [6, 8], "counts": "5 2"}`:           "RLE counts: a character that compressed runs do not have",
		box + `, "segmentation": {"size": [6, 8], "counts": "O"}`:             "RLE counts: a run whose length is negative or too large",
		box + `, "segmentation": {"size": [6, 8], "counts": "P"}`:             "RLE counts: compressed runs that end within a number",
		box + `, "segmentation": {"size": [48], "counts": [48]}`:              "RLE size is not height and width: [48]",
		box + `, "segmentation": {"size": [0, 8], "counts": []}`:              "RLE size is not height and width: [0 8]",
		box + `, "segmentation": {"size": [1, 8388608], "counts": [8388608]}`: "RLE size is not height and width: [1 8388608]",
		box + `, "segmentation": {"size": [8, 6], "counts": [48]}`:            "RLE size is that of 6 x 8 pixels, in an image of 8 x 6",
	} {
		for _, o := range []annotation.Options{{}, {Regions: true}} {
			set, err := read(t, one(more), o)
			if err != nil {
				t.Errorf("%s: %v", more, err)
				continue
			}
			f, objects := set.Images[1].Faults, 0
			if mask := strings.Contains(more, "segmentation"); mask && !o.Regions {
				if len(f) != 0 || len(set.Images[1].Objects) != 1 { // it is not even checked
					t.Errorf("%s: %+v, want an object", more, set)
				}
				continue
			} else if mask {
				objects = 1
			}
			if len(f) != 1 || f[0].Reason != want || f[0].Name != "1" || f[0].Image != "7" || (f[0].Part == annotation.PartMask) != (objects == 1) || len(set.Images[1].Objects) != objects || len(set.Faults) != 0 {
				t.Errorf("%s: %+v, want %q", more, set, want)
			}
			if good := strings.Contains(more, "[1, 1, 2, 2, 3, 3], ["); objects == 1 && (set.Images[1].Objects[0].Region != nil) != good || objects == 1 && set.Images[1].Objects[0].NoMask == good {
				t.Errorf("%s: %+v, want a region %v", more, set.Images[1].Objects[0], good)
			}
		}
		reasons[want] = more
	}
	for text, want := range map[string]string{
		`{}`:                                     "annotation 1: no bbox",
		`{"id": 5, "category_id": 3` + box + `}`: "5: no image_id",
		`{"id": 5, "image_id": 7` + box + `}`:    "5: no category_id",
		`{"id": 5, "image_id": null, "category_id": 3` + box + `}`:                                    "5: image_id: not an id: \"null\"",
		`{"id": 5, "image_id": 1.5, "category_id": 3` + box + `}`:                                     "5: image_id: not an id: \"1.5\"",
		`{"id": 5, "image_id": 7, "category_id": 4` + box + `}`:                                       "5: unknown category: category_id 4",
		`{"id": 5, "image_id": 7, "category_id": "x"` + box + `}`:                                     "5: category_id: not an integer of 64 bits: \"x\"",
		`{"id": 5, "image_id": 7, "category_id": 9223372036854775808` + box + `}`:                     "5: category_id: not an integer of 64 bits: \"9223372036854775808\"",
		`{"id": 99999999999999999999, "image_id": 99999999999999999998, "category_id": 3` + box + `}`: "99999999999999999999: unknown image: image_id 99999999999999999998",
		`{"id": 1e3, "image_id": -0, "category_id": 3` + box + `}`:                                    "1000: unknown image: image_id 0",
		`{"id": [], "image_id": 7, "category_id": 3` + box + `}`:                                      "annotation 1: not an id: \"[]\"",
	} {
		set, err := read(t, file(text+`, {"id": 6, "image_id": 7, "category_id": 3`+box+`}`), annotation.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if f := append(set.Faults, set.Images[1].Faults...); len(f) != 1 || f[0].Name+": "+f[0].Reason != want || len(set.Images[1].Objects) != 1 {
			t.Errorf("%s: %+v, want %s", text, f, want)
		}
	}
}

func TestErrors(t *testing.T) {
	whole := one(box)
	for what, c := range map[string]struct{ text, want string }{
		"nothing":          {"", "byte 0: the file is empty"},
		"blanks":           {"\ufeff \n", "the file is empty"},
		"a list":           {"[1, 2]", "byte 0: not a JSON object"},
		"other text":       {"id,file\n", "byte 0: not a JSON object"},
		"UTF-16":           {"\xff\xfe{\x00", "byte 0: not a JSON object"},
		"more text":        {whole + " x", "text after the object"},
		"two objects":      {whole + "{}", "text after the object"},
		"deep":             {`{"annotations": ` + strings.Repeat("[", 3_000_000), "nested more than 64 deep"},
		"no images":        {`{"annotations": [], "categories": []}`, `no "images"`},
		"no annotations":   {`{"images": [], "categories": []}`, `no "annotations"`},
		"no categories":    {`{"images": [], "annotations": []}`, `no "categories"`},
		"twice":            {`{"images": [], "images": []}`, `"images" occurs twice`},
		"an object":        {`{"images": {}}`, `"images" is not a list`},
		"no comma":         {`{"images": [] "annotations": []}`, "want a comma or }"},
		"a comma too many": {`{"images": [],}`, "want a name in quotes"},
		"no value":         {`{"images": [{"id": }]}`, `images[0]: in "id": "}", want a value`},
		"elements":         {`{"images": [1]}`, "byte 12: images[0]: not an object"},
		"brackets":         {`{"annotations": [{"id": 1]]}`, `byte 25: annotations[0]: "]", want a comma or }`},
		"a number":         {one(box + `, "area": 01`), "annotations[0]: in \"area\": \"01}\", want a value"},
		"not UTF-8":        {one(box + ", \"x\": \"\xff\""), "annotations[0]: in \"x\": not UTF-8"},
		"a bad escape":     {one(box + `, "x": "\q"`), "annotations[0]: in \"x\": a bad escape"},
		"a line break":     {one(box + ", \"x\": \"\n\""), "annotations[0]: in \"x\": a control character"},
		"image ids":        {`{"images": [{"id": 1, "file_name": "a"}, {"id": 1.0, "file_name": "b"}], "annotations": [], "categories": []}`, `two images with id 1: "a" of 0 x 0 pixels and "b"`},
		"image sizes":      {`{"images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "a", "width": 5}], "annotations": [], "categories": []}`, `two images with id 1`},
		"category ids":     {`{"categories": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}], "annotations": [], "images": []}`, `two categories with id 1: "a" and "b"`},
		"panoptic":         {file(`{"image_id": 7, "file_name": "7.png", "segments_info": [{"id": 1, "category_id": 3, "bbox": [1, 2, 3, 4]}]}`), "a COCO panoptic file; give the instances file"},
		"captions":         {file(`{"id": 1, "image_id": 7, "caption": "A box."}`), "a COCO captions file"},
		"keypoints":        {file(`{"id": 1, "image_id": 7, "keypoints": [1, 2, 2]}`), "a COCO keypoints file"},
	} {
		for _, workers := range []int{1, 3} {
			_, err := read(t, c.text, annotation.Options{Workers: workers})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "instances.json: ") || len(err.Error()) > 1000 {
				t.Errorf("%s: %v, want %q", what, err, c.want)
			}
		}
	}
	for n := range whole {
		_, err := readLists(context.Background(), strings.NewReader(whole[:n]), annotation.Options{Workers: 1})
		if err == nil || !strings.Contains(err.Error(), "cut short") && n > 0 {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", maxElement)
	for what, c := range map[string]struct{ text, want string }{
		"deep elsewhere": {`{"info": ` + strings.Repeat(`{"a":`, 1_000_000), "nested more than 64 deep"},
		"blanks":         {`{"images": [` + strings.Repeat(" ", maxElement+step), "byte 12: a value of more than 16777216 bytes"},
		"long":           {`{"images": [{"file_name": "` + long + `"}]}`, "byte 12: a value of more than 16777216 bytes"},
		"faults":         {file(strings.Repeat("{},", maxFaults) + "{}"), "more than 262144 annotations cannot be used"},
	} {
		lists, err := readLists(context.Background(), strings.NewReader(c.text), annotation.Options{Workers: 2})
		if err == nil {
			_, err = join(lists, "f")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestOddFiles(t *testing.T) {
	plain, err := read(t, one(box), annotation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"a byte order mark": "\ufeff" + one(box),
		"Windows lines":     strings.ReplaceAll(one(box), "\n", "\r\n") + "\r\n",
		"escaped names":     strings.Replace(one(box), `"annotations"`, `"\u0061nnotations"`, 1),
		"other members":     strings.Replace(one(box), `"info": {}`, `"info": {"a": ["]}", "\"", -Infinity], "b": "`+strings.Repeat("x", 20<<20)+`"}`, 1),
		"images twice":      strings.Replace(one(box), `"images": [`, `"images": [{"id": "7", "file_name": "b/./x.jpg", "width": 8.0, "height": 6},`, 1),
	} {
		set, err := read(t, text, annotation.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if diff := cmp.Diff(plain, set, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	empty, err := read(t, `{"images": [], "annotations": [], "categories": []}`, annotation.Options{})
	if err != nil || len(empty.Images)+len(empty.Classes)+len(empty.Faults) > 0 {
		t.Errorf("%+v, %v", empty, err)
	}
	lvis, err := read(t, `{"images": [{"id": 1, "coco_url": "http://images.cocodataset.org/train2017/000000391895.jpg", "neg_category_ids": [1]}], "annotations": [], "categories": []}`, annotation.Options{})
	if err != nil || lvis.Images[0].Name != "train2017/000000391895.jpg" {
		t.Errorf("%+v, %v", lvis, err)
	}
	keypoints, err := read(t, one(box+`, "keypoints": [1, 2, 2], "num_keypoints": 1`), annotation.Options{})
	if err != nil || len(keypoints.Images[1].Objects) != 1 {
		t.Errorf("keypoints with a bbox: %+v, %v", keypoints, err)
	}
	path := t.TempDir() + "/none.json"
	if _, err := Read(context.Background(), path, annotation.Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := os.WriteFile(path, []byte(one(box)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(ctx, path, annotation.Options{}); err != context.Canceled {
		t.Error(err)
	}
}

// The order of an image's objects is that of the file, whatever the batches and the workers.
func TestBatches(t *testing.T) {
	const n = 9_000
	var b strings.Builder
	b.WriteString(`{"annotations": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"id": %d, "image_id": %d, "category_id": 1, "bbox": [%d, 0, 1, 1], "x": %q}`, i, i%7, i, strings.Repeat("é", i%90))
	}
	b.WriteString(`], "categories": [{"id": 1, "name": "a"}], "images": [`)
	for i := range 7 {
		fmt.Fprintf(&b, `{"id": %d, "file_name": "%d.jpg"},`, i, 9-i)
	}
	text := strings.TrimSuffix(b.String(), ",") + "]}"
	for _, workers := range []int{1, 2, 5} {
		set, err := read(t, text, annotation.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for i, im := range set.Images {
			if want := fmt.Sprint(6 - i); im.ID != want || len(im.Faults) > 0 {
				t.Fatalf("image %s, want %s; %v", im.ID, want, im.Faults)
			}
			if !slices.IsSortedFunc(im.Objects, func(a, b annotation.Object) int { return int(a.Box.XMin - b.Box.XMin) }) {
				t.Errorf("%d workers: objects of image %s are out of order", workers, im.ID)
			}
			total += len(im.Objects)
		}
		if total != n {
			t.Errorf("%d workers: %d objects, want %d", workers, total, n)
		}
		broken := strings.Replace(strings.Replace(text, `"id": 8500,`, `"id": x,`, 1), `"id": 3000,`, `"id": y,`, 1)
		if _, err := read(t, broken, annotation.Options{Workers: workers}); err == nil || !strings.Contains(err.Error(), `annotations[3000]: in "id": "y,`) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// Offsets are those in the file after any number of members, of any length.
func TestManyMembers(t *testing.T) {
	text := strings.TrimSuffix(one(box), "}") + strings.Repeat(`,"a":0`, 200_000) + strings.Repeat(`,"b":"`+strings.Repeat("x", 5000)+`"`, 200)
	want := fmt.Sprintf(": byte %d: want a comma or }", len(text))
	if _, err := read(t, text+"x", annotation.Options{}); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Memory is that of what is kept, however long the file is.
func TestMemory(t *testing.T) {
	race.Skip(t)
	const n = 100
	long := `, "bbox": [1, 2, 3, 4], "x": "` + strings.Repeat("é", 100_000) + `", "segmentation": [[` + strings.Repeat("1.5, ", 2_000) + `1, 2]]}`
	parts := []io.Reader{strings.NewReader(`{"x": [[`), strings.NewReader(strings.Repeat(`"[", `, 1<<18)), strings.NewReader(`1]], "annotations": [{"id": 0}`)}
	for range n {
		parts = append(parts, strings.NewReader(`, {"image_id": 1, "category_id": 1`), strings.NewReader(long))
	}
	parts = append(parts, strings.NewReader(`], "images": [{"id": 1, "file_name": "a"}], "categories": [{"id": 1, "name": "a"}]}`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lists, err := readLists(context.Background(), io.MultiReader(parts...), annotation.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	set, err := join(lists, "f")
	if err != nil || len(set.Images[0].Objects) != n {
		t.Fatalf("%+v, %v", set, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 12<<20 {
		t.Errorf("%d bytes allocated for a file of %d", got, n*len(long))
	}
}
