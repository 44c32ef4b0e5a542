package coco

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/annotation"
)

// pose is a file with image 7 of 8 x 6 pixels, and categories as JSON.
func pose(categories, annotations string) string {
	return `{"annotations": [` + annotations + `], "images": [{"id": 7, "file_name": "x.jpg", "width": 8, "height": 6}], "categories": [` + categories + `]}`
}

const (
	person = `{"id": 1, "name": "person", "keypoints": ["nose", "left_eye", "right_eye"], "skeleton": [[1, 2]]}`
	dog    = `{"id": 2, "name": "dog", "keypoints": ["tail", "nose"]}`
	car    = `{"id": 3, "name": "car", "keypoints": []}`
)

// posed is an annotation of a category with further members.
func posed(id, category int, more string) string {
	return fmt.Sprintf(`{"id": %d, "image_id": 7, "category_id": %d, "bbox": [1, 2, 3, 2.5], "iscrowd": 0%s}`, id, category, more)
}

func TestKeypoints(t *testing.T) {
	at := func(i int16, x, y float64, v int8) annotation.Keypoint {
		return annotation.Keypoint{X: x, Y: y, Index: i, Visibility: v}
	}
	for name, c := range map[string]struct {
		file    string
		want    annotation.Keypoints
		points  [][]annotation.Keypoint // of the objects
		faults  []string                // of the keypoints of the image
		classes []string                // of those of categories
		unused  annotation.Fields
		errors  string
	}{
		"a person": {
			file:   pose(person, posed(1, 1, `, "keypoints": [1, 2, 2, 3.5, 4, 1, 5, 5, 0], "num_keypoints": 2`)),
			want:   annotation.Keypoints{Count: 3, Names: []string{"nose", "left_eye", "right_eye"}},
			points: [][]annotation.Keypoint{{at(0, 1, 2, 2), at(1, 3.5, 4, 1)}},
			unused: annotation.Fields{"categories[].skeleton": 1},
		},
		"objects without": {
			file: pose(person+","+car, posed(1, 1, ``)+","+posed(2, 1, `, "keypoints": null`)+","+posed(3, 1, `, "keypoints": []`)+","+
				posed(4, 1, `, "keypoints": [0,0,0,0,0,0,0,0,0], "num_keypoints": 0`)+","+posed(5, 3, `, "keypoints": [0,0,0]`)),
			want:   annotation.Keypoints{Count: 3, Names: []string{"nose", "left_eye", "right_eye"}},
			points: [][]annotation.Keypoint{nil, nil, nil, nil, nil}, unused: annotation.Fields{"categories[].skeleton": 1},
		},
		"categories that differ": {
			file:   pose(dog+","+person, posed(1, 2, `, "keypoints": [1, 1, 2, 2, 2, 2]`)+","+posed(2, 1, `, "keypoints": [3, 3, 2, 4, 4, 1, 5, 5, 1]`)),
			want:   annotation.Keypoints{Count: 4, Names: []string{"nose", "left_eye", "right_eye", "tail"}},
			points: [][]annotation.Keypoint{{at(3, 1, 1, 2), at(0, 2, 2, 2)}, {at(0, 3, 3, 2), at(1, 4, 4, 1), at(2, 5, 5, 1)}}, unused: annotation.Fields{"categories[].skeleton": 1},
		},
		"without names": {
			file:   pose(`{"id": 1, "name": "person"}`, posed(1, 1, `, "keypoints": [1, 1, 2, 2, 2, 2.0]`)+","+posed(2, 1, ``)),
			want:   annotation.Keypoints{Count: 2},
			points: [][]annotation.Keypoint{{at(0, 1, 1, 2), at(1, 2, 2, 2)}, nil},
		},
		"numbers that differ without names": {
			file:   pose(`{"id": 1, "name": "person"}`, posed(1, 1, `, "keypoints": [1, 1, 2, 2, 2, 2]`)+","+posed(9, 1, `, "keypoints": [0, 0, 0]`)),
			errors: "annotation 1 and annotation 9 have different numbers of keypoints, 2 and 1",
		},
		"outside": {
			file:   pose(person, posed(1, 1, `, "keypoints": [-1, 2, 2, 8, 6, 1, 8.5, 5, 1], "num_keypoints": 3`)),
			want:   annotation.Keypoints{Count: 3, Names: []string{"nose", "left_eye", "right_eye"}},
			points: [][]annotation.Keypoint{{at(0, -1, 2, 2), at(1, 8, 6, 1), at(2, 8.5, 5, 1)}}, unused: annotation.Fields{"categories[].skeleton": 1, annotation.OutsideKeypoints: 2},
		},
		"a wrong num_keypoints": {
			file:   pose(dog, posed(1, 2, `, "num_keypoints": 3, "keypoints": [1, 2, 2, 0, 0, 0]`)+","+posed(2, 2, `, "num_keypoints": 1`)),
			want:   annotation.Keypoints{Count: 2, Names: []string{"tail", "nose"}},
			points: [][]annotation.Keypoint{{at(0, 1, 2, 2)}, nil}, unused: annotation.Fields{"num_keypoints": 2},
		},
		"broken keypoints": {
			file: pose(person+","+`{"id": 4, "name": "tree"}`, posed(1, 1, `, "keypoints": [1, 2, 2]`)+","+posed(2, 1, `, "keypoints": [1, 2, 2, 3]`)+","+
				posed(3, 1, `, "keypoints": [1, 2, 2, 3, 4, 5, 6, 7, 0]`)+","+posed(4, 1, `, "keypoints": [1, NaN, 2, 3, 4, 2, 6, NaN, 0]`)+","+
				posed(5, 1, `, "keypoints": "x"`)+","+posed(6, 1, `, "keypoints": [1, 2, [], 3, 4, 5, 6, 7, 0]`)+","+posed(7, 4, `, "keypoints": [1, 1, 2]`)+","+
				posed(8, 1, `, "keypoints": [1, 1, 1`+strings.Repeat(",0", 3*annotation.MaxKeypoints)+`]`)+","+posed(9, 1, `, "keypoints": [1, 1e999, 2, 0, 0, 0, 0, 0, -1]`)),
			want:   annotation.Keypoints{Count: 3, Names: []string{"nose", "left_eye", "right_eye"}},
			points: make([][]annotation.Keypoint, 9), unused: annotation.Fields{"categories[].skeleton": 1},
			faults: []string{
				"1: 1 point: want the 3 that category 1 lists", "2: 4 numbers: want x, y and visibility of each point", "3: point 2 has the visibility 5: want 0, 1 or 2",
				"4: point 1 has a coordinate that is not finite", "5: they are not a list of numbers", "6: they are not a list of numbers",
				"7: category 4 lists no names of keypoints, and others do", "8: 1025 points are too many: want 1024 at most", "9: point 1 has a coordinate that is not finite",
			},
		},
		"broken names": {
			file: pose(`{"id": 1, "name": "a", "keypoints": ["x", "x"]},{"id": 2, "name": "b", "keypoints": "x"},{"id": 3, "name": "c", "keypoints": ["x", 5]},
				{"id": 4, "name": "d", "keypoints": ["x", ""]},{"id": 5, "name": "e", "keypoints": ["y"]},{"id": 6, "name": "f", "keypoints": [`+strings.Repeat(`"z", `, 2000)+`"z"]}`,
				posed(1, 1, `, "keypoints": [1, 1, 2, 2, 2, 2]`)+","+posed(2, 5, `, "keypoints": [1, 1, 2]`)),
			want:   annotation.Keypoints{Count: 1, Names: []string{"y"}},
			points: [][]annotation.Keypoint{nil, {at(0, 1, 1, 2)}},
			classes: []string{
				`category 1 of the list: two keypoints are named "x"`, "category 2 of the list: they are not a list of names", "category 3 of the list: they are not a list of names",
				"category 4 of the list: keypoint 2, counted from 1, has no name", "category 6 of the list: 1025 keypoints are too many: want 1024 at most",
			},
		},
		"two lists": {
			file:   pose(person+`,{"id": 1, "name": "person", "keypoints": ["nose"]}`, posed(1, 1, ``)),
			errors: "two categories with id 1, whose keypoints differ",
		},
		"too many together": {
			file:   pose(`{"id": 1, "name": "a", "keypoints": [`+manyNames("a", 600)+`]},{"id": 2, "name": "b", "keypoints": [`+manyNames("b", 600)+`]}`, posed(1, 1, ``)),
			errors: "the keypoints of all categories together: 1200 keypoints are too many: want 1024 at most",
		},
	} {
		for _, workers := range []int{1, 3} {
			set, err := read(t, c.file, annotation.Options{Workers: workers})
			if err != nil || c.errors != "" {
				if c.errors == "" || err == nil || !strings.Contains(err.Error(), c.errors) {
					t.Errorf("%s: %v, want %q", name, err, c.errors)
				}
				continue
			}
			im := &set.Images[0]
			var points [][]annotation.Keypoint
			for _, o := range im.Objects {
				points = append(points, o.Keypoints)
			}
			if c.unused == nil {
				c.unused = annotation.Fields{}
			}
			for what, diff := range map[string]string{
				"set": cmp.Diff(c.want, set.Keypoints), "points": cmp.Diff(c.points, points), "unused": cmp.Diff(c.unused, set.Unused),
				"faults": cmp.Diff(c.faults, partFaults(t, im.Faults)), "classes": cmp.Diff(c.classes, partFaults(t, set.Faults)),
			} {
				if diff != "" {
					t.Errorf("%s, %s: %s", name, what, diff)
				}
			}
		}
	}
}

func manyNames(prefix string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"%s%d"`, prefix, i)
	}
	return strings.Join(names, ",")
}

// partFaults are faults, all of which are of keypoints.
func partFaults(t *testing.T, faults []annotation.Fault) (list []string) {
	t.Helper()
	for _, f := range faults {
		if f.Part != annotation.PartKeypoints {
			t.Errorf("%+v", f)
		}
		list = append(list, f.Name+": "+f.Reason)
	}
	return list
}

// TestBrokenMaskAndKeypoints: one annotation may have both.
func TestBrokenMaskAndKeypoints(t *testing.T) {
	set, err := read(t, pose(person, posed(1, 1, `, "segmentation": [[1, 2]], "keypoints": [1]`)), annotation.Options{Regions: true})
	if err != nil || len(set.Images[0].Objects) != 1 || len(set.Images[0].Faults) != 2 || set.Images[0].Faults[0].Part != annotation.PartMask || set.Images[0].Faults[1].Part != annotation.PartKeypoints {
		t.Errorf("%+v, %v", set, err)
	}
	set, err = read(t, pose(person, posed(1, 1, `, "iscrowd": 5, "keypoints": [1]`)), annotation.Options{Regions: true})
	if err != nil || len(set.Images[0].Objects) != 0 || len(set.Images[0].Faults) != 1 || set.Images[0].Faults[0].Part != "" {
		t.Errorf("%+v, %v", set, err)
	}
}

// TestRandomKeypoints writes random keypoints of random categories, and finds each by its name.
func TestRandomKeypoints(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	all := strings.Fields("nose left_eye right_eye tail left_paw right_paw ear")
	for range 40 {
		var categories, annotations []map[string]any
		lists := map[int][]string{}
		for id := range 1 + r.IntN(4) {
			names := slices.Clone(all)
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			lists[id] = names[:1+r.IntN(len(names))]
			categories = append(categories, map[string]any{"id": id, "name": fmt.Sprint("c", id), "keypoints": lists[id]})
		}
		want := map[string]map[string]annotation.Keypoint{}
		for i := range r.IntN(30) {
			category := r.IntN(len(lists))
			a := map[string]any{"id": i, "image_id": 7, "category_id": category, "bbox": []int{0, 0, 8, 6}}
			points := map[string]annotation.Keypoint{}
			if r.IntN(4) > 0 {
				var flat []float64
				for _, name := range lists[category] {
					k := annotation.Keypoint{X: float64(r.IntN(80)) / 10, Y: float64(r.IntN(60)) / 10, Visibility: int8(r.IntN(3))}
					flat = append(flat, k.X, k.Y, float64(k.Visibility))
					if k.Visibility > 0 {
						points[name] = k
					}
				}
				a["keypoints"], a["num_keypoints"] = flat, len(points)
			}
			annotations = append(annotations, a)
			want[fmt.Sprint(i)] = points
		}
		text, err := json.Marshal(map[string]any{"images": []any{map[string]any{"id": 7, "file_name": "x.jpg", "width": 8, "height": 6}}, "categories": categories, "annotations": append([]map[string]any{}, annotations...)})
		if err != nil {
			t.Fatal(err)
		}
		set, err := read(t, string(text), annotation.Options{Workers: 1 + r.IntN(3)})
		if err != nil || len(set.Unused) > 0 || len(set.Images[0].Faults) > 0 {
			t.Fatal(err, set)
		}
		for _, o := range set.Images[0].Objects {
			got := map[string]annotation.Keypoint{}
			for _, k := range o.Keypoints {
				name := set.Keypoints.Names[k.Index]
				k.Index = 0
				got[name] = k
			}
			if diff := cmp.Diff(want[o.Name], got); diff != "" || len(o.Keypoints) != len(got) {
				t.Fatalf("%s: %s", text, diff)
			}
		}
	}
}
