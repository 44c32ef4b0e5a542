package coco

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// What states nothing is as if it were not there.
func TestNothingStated(t *testing.T) {
	plain, err := read(t, one(box), annotation.Options{Regions: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{
		`, "area": "7"`, `, "area": -1`, `, "area": null`, `, "area": 1e999`, `, "segmentation": {}`, `, "segmentation": { }`, `, "segmentation": [[]]`, `, "segmentation": [[], []]`,
		`, "segmentation": ""`, `, "x": "\ud83d"`, `, "x": ["\ude00\ud83d", "\ud83d\n"]`, `, "\ud83d": 1`,
	} {
		set, err := read(t, one(box+more), annotation.Options{Regions: true})
		if err != nil {
			t.Errorf("%s: %v", more, err)
		} else if diff := cmp.Diff(plain, set, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(annotation.Set{}, "Unused")); diff != "" {
			t.Errorf("%s: %s", more, diff)
		}
	}
	set, err := read(t, file(`{"id": null, "image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4], "segmentation": {"size": [6.0, 8e0], "counts": [5, 3, 40]}}`), annotation.Options{Regions: true})
	if err != nil || len(set.Images[1].Objects) != 1 || set.Images[1].Objects[0].Name != "annotation 1" || set.Images[1].Objects[0].Region.Width != 8 {
		t.Errorf("%+v, %v", set, err)
	}
}

// An image or a category that is of no use costs no other.
func TestOddEntries(t *testing.T) {
	for entry, want := range map[string]string{
		`{"id": 1, "file_name": "z", "width": "20", "height": -1}`:                          "z 0x0",
		`{"id": 1, "file_name": "z", "width": 20.5, "height": 5.0}`:                         "z 0x5",
		`{"id": 1, "file_name": "z", "width": NaN, "height": [1]}`:                          "z 0x0",
		`{"id": 1, "file_name": "z", "coco_url": 0}`:                                        "z 0x0",
		`{"id": 1, "file_name": "z", "coco_url": "` + strings.Repeat("u", maxText+1) + `"}`: "z 0x0",
		`{"id": 1, "file_name": "z", "x": "\udc00"}`:                                        "z 0x0",
		`{"file_name": "z"}`:                   "z 0x0 no id",
		`{"id": [], "file_name": "z"}`:         `z 0x0 not an id: "[]"`,
		`{"id": 1, "id": 2, "file_name": "z"}`: `z 0x0 "id" occurs twice`,
		`{"id": 1, "file_name": null}`:         "image 3 of the list: no file_name",
		`{"id": 1, "file_name": 5}`:            "image 3 of the list: file_name: not a string",
		`{"id": 1}`:                            "image 3 of the list: no file_name",
		`{"id": 1, "file_name": "` + strings.Repeat("z", maxText+1) + `"}`: "image 3 of the list: file_name: a string of 4097 bytes, more than 4096",
		`{"id": 1, "file_name": null, "coco_url": "http://a.b/c/z"}`:       "c/z 0x0",
	} {
		set, err := read(t, strings.Replace(one(box), `y.jpg"}`, `y.jpg"}, `+entry, 1), annotation.Options{})
		if err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		got := ""
		for _, im := range set.Images {
			if im.Name == "z" || im.Name == "c/z" {
				got = strings.TrimSpace(fmt.Sprintf("%s %dx%d %s", im.Name, im.Width, im.Height, im.Unreadable))
			}
		}
		for _, f := range set.Faults {
			got += f.Name + ": " + f.Reason
		}
		if got != want || len(set.Images[1].Objects) != 1 {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
	for entry, want := range map[string]string{
		`{"id": 1, "name": 5}`:                     "name: not a string",
		`{"id": 1, "name": null}`:                  "no name",
		`{"id": 1}`:                                "no name",
		`{"name": "z"}`:                            "no id",
		`{"id": 1.5, "name": "z"}`:                 `not an id: "1.5"`,
		`{"id": 1, "id": 2, "name": "z"}`:          `"id" occurs twice`,
		`{"id": 9223372036854775808, "name": "z"}`: `an id that is not an integer of 64 bits: "9223372036854775808"`,
	} {
		set, err := read(t, strings.Replace(one(box), `"categories": [`, `"categories": [`+entry+`,`, 1), annotation.Options{})
		if err != nil || len(set.Classes) != 2 || len(set.Faults) != 1 || set.Faults[0].Name+": "+set.Faults[0].Reason != "category 1 of the list: "+want {
			t.Errorf("%s: %+v, %v, want %s", entry, set, err, want)
		}
	}
}

// The annotations of images that were taken off the list are a thousand faults, and their number.
func TestAnnotationsOfASubset(t *testing.T) {
	stranger := `{"id": 5, "image_id": 8, "category_id": 3` + box + `},`
	for n, want := range map[int]string{999: "unknown image: image_id 8", 1000: "unknown image: image_id 8", maxFaults + 1: fmt.Sprint(maxFaults+1-1000, " more annotations of unknown images")} {
		set, err := read(t, file(strings.Repeat(stranger, n)+`{"image_id": 7, "category_id": 3`+box+`}`), annotation.Options{})
		if err != nil || len(set.Faults) != min(n, 1001) || set.Faults[len(set.Faults)-1].Reason != want || len(set.Images[1].Objects) != 1 {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// The error of too many faults names the first of them in the file that is too many.
func TestTooManyFaults(t *testing.T) {
	race.Skip(t)
	text := file(strings.Repeat("{},", maxFaults) + `{"id": "last"},` + strings.Repeat("{},", 1<<17) + "{}")
	for _, workers := range []int{1, 4} {
		if _, err := read(t, text, annotation.Options{Workers: workers}); err == nil || !strings.HasSuffix(err.Error(), "such as last: no bbox") {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestSizesOfEncodings: an image without a stated size has that of its run-length encodings, whose
// frame may be that of its file, unless these differ; also where regions are not kept.
func TestSizesOfEncodings(t *testing.T) {
	rle := func(w, h, image int) string {
		return fmt.Sprintf(`{"id": %d, "image_id": %d, "category_id": 3, "bbox": [0, 0, 1, 1], "segmentation": {"size": [%d, %d], "counts": [0, %d]}}`, w, image, h, w, w*h)
	}
	const plain = `{"image_id": 9, "category_id": 3, "bbox": [0, 0, 1, 1], "segmentation": [[0, 0, 4, 0, 4, 4]]}`
	for _, c := range []struct {
		annotations       string
		w, h, usable, bad int
	}{
		{plain, 0, 0, 1, 0},
		{plain + "," + rle(5, 4, 9) + "," + rle(5, 4, 9), 5, 4, 3, 0},
		{rle(5, 4, 9) + "," + rle(4, 5, 9) + "," + rle(5, 4, 9), 0, 0, 3, 0},
		{rle(8, 6, 7) + "," + rle(6, 8, 7) + "," + rle(6, 8, 9), 6, 8, 1, 1}, // its mask, which counts only with regions
	} {
		for _, regions := range []bool{false, true} {
			set, err := read(t, file(c.annotations), annotation.Options{Regions: regions})
			if err != nil {
				t.Fatal(err)
			}
			y, x := &set.Images[0], &set.Images[1]
			if y.Width != c.w || y.Height != c.h || len(y.Objects) != c.usable || x.Width != 8 || x.Height != 6 || regions && len(x.Faults) != c.bad {
				t.Errorf("%s: got %d x %d, %d objects, %d faults; want %+v", c.annotations, y.Width, y.Height, len(y.Objects), len(x.Faults), c)
			}
		}
	}
}

// TestUnusedFields gives the elements of all lists members that are not kept, some of them at
// random: each is counted, unless it is empty.
func TestUnusedFields(t *testing.T) {
	kept := map[string]string{
		"images":      `"id": 7, "file_name": "x.jpg", "width": 8, "height": 6`,
		"annotations": `"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 2.5], "keypoints": [1, 2, 2]`,
		"categories":  `"id": 3, "name": "first"`,
	}
	unused := map[string][]string{
		"images":      {"tags", "license", "date_captured", "attributes"},
		"annotations": {"attributes", "num_keypoints", "caption", "segments_info", "score", "track_id"},
		"categories":  {"supercategory", "skeleton", "color"},
	}
	empty := `, "empty": [], "none": null, "zero": 0, "no": false, "blank": ""`
	rng := rand.New(rand.NewPCG(37, 6))
	for range 50 {
		want := annotation.Fields{}
		var lists []string
		for _, list := range []string{"annotations", "images", "categories"} {
			element := kept[list] + empty
			for _, name := range unused[list] {
				if rng.IntN(2) == 0 {
					continue
				}
				element += fmt.Sprintf(`, %q: [{"x": 1}]`, name)
				if list != "annotations" {
					name = list + "[]." + name
				}
				want[name] = 1
			}
			lists = append(lists, fmt.Sprintf(`%q: [{%s}]`, list, element))
		}
		set, err := read(t, "{"+strings.Join(lists, ", ")+"}", annotation.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, set.Unused); diff != "" {
			t.Error(diff)
		}
		names := set.Unused.Names()
		if !slices.IsSortedFunc(names, func(a, b string) int { return strings.Count(a, "[]") - strings.Count(b, "[]") }) {
			t.Errorf("annotations are not first: %q", names)
		}
	}
}

// TestUnusedSegmentation counts segmentation where it is not asked for.
func TestUnusedSegmentation(t *testing.T) {
	for regions, want := range map[bool]annotation.Fields{false: {"segmentation": 1}, true: {}} {
		set, err := read(t, one(box+`, "segmentation": [[1, 2, 3, 4, 5, 6]]`), annotation.Options{Regions: regions})
		if err != nil {
			t.Fatal(err)
		}
		delete(set.Unused, "categories[].supercategory")
		if diff := cmp.Diff(want, set.Unused); diff != "" {
			t.Errorf("regions %v: %s", regions, diff)
		}
	}
}
