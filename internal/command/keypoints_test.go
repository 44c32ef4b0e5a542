package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestKeypointsComeBack: keypoints of COCO are the same after an export to COCO or YOLO and a conversion
// of that, also those of images that EXIF turns.
func TestKeypointsComeBack(t *testing.T) {
	const dir = "../../testdata/detection"
	data, err := os.ReadFile(dir + "/coco.json")
	if err != nil {
		t.Fatal(err)
	}
	for trial, names := range [][]string{{"nose", "left_eye", "right_eye", "tail"}, {"a", "b"}, nil} {
		t.Run(fmt.Sprint(len(names)), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, uint64(trial)))
			var file struct {
				Images      []map[string]any `json:"images"`
				Categories  []map[string]any `json:"categories"`
				Annotations []map[string]any `json:"annotations"`
			}
			if err := json.Unmarshal(data, &file); err != nil {
				t.Fatal(err)
			}
			count := len(names)
			if names == nil {
				count = 3
			}
			sizes := map[any][2]float64{}
			for _, im := range file.Images {
				sizes[im["id"]] = [2]float64{im["width"].(float64), im["height"].(float64)}
			}
			posed := map[any]bool{}
			for i, c := range file.Categories {
				if i%2 == 0 {
					posed[c["id"]] = true
					if names != nil {
						c["keypoints"] = names
					}
				}
			}
			for _, a := range file.Annotations {
				if !posed[a["category_id"]] {
					continue
				}
				size, points, labelled := sizes[a["image_id"]], []float64{}, 0
				for range count {
					v := r.IntN(3)
					points = append(points, math.Round(r.Float64()*size[0]*10)/10, math.Round(r.Float64()*size[1]*10)/10, float64(v))
					labelled += min(v, 1)
				}
				a["keypoints"], a["num_keypoints"] = points, labelled
			}
			temp := t.TempDir()
			text, err := json.Marshal(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(temp+"/a.json", text, 0o644); err != nil {
				t.Fatal(err)
			}
			set := filepath.Join(temp, "set")
			must(t, "convert", "images", dir+"/images", set, "--name", "drawn", "--annotations", temp+"/a.json", "--encode", []string{"keep", "png", "keep"}[trial], "--shards", "1")
			must(t, "verify", "--deep", set)
			upright := filepath.Join(temp, "upright")
			must(t, "convert", "images", dir+"/images", upright, "--name", "drawn", "--annotations", temp+"/a.json", "--encode", "png", "--shards", "1")
			want := keypointsOf(t, upright)
			for _, format := range []string{"coco", "yolo"} {
				exported, again := filepath.Join(temp, format), filepath.Join(temp, "again-"+format)
				must(t, "export", set, exported, "--format", format)
				src := map[string]string{"coco": "train", "yolo": "images/train"}[format]
				from := map[string]string{"coco": "annotations/instances_train.json", "yolo": "labels/train"}[format]
				must(t, "convert", "images", filepath.Join(exported, src), again, "--name", "drawn", "--shards", "1", "--encode", "png", "--annotations", filepath.Join(exported, from))
				got := keypointsOf(t, again)
				if len(got) != len(want) || len(got) == 0 {
					t.Errorf("%s: %d images, want %d", format, len(got), len(want))
				}
				for name, w := range want {
					compareKeypoints(t, format+", "+name, got[name], w)
				}
			}
		})
	}
}

// keypointsOf returns the keypoints of the records of a set by the names of images.
func keypointsOf(t *testing.T, set string) map[string]*objects.Keypoints {
	t.Helper()
	s, err := reader.Open(t.Context(), set, reader.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*objects.Keypoints{}
	for r, err := range s.Records().All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		var e tfrecord.Example
		if err := e.Parse(append([]byte{}, r.Data...)); err != nil {
			t.Fatal(err)
		}
		boxes, err := objects.Check(&e.Features)
		if err != nil {
			t.Fatal(err)
		}
		k := new(objects.Keypoints)
		if err := k.Parse(&e.Features, boxes); err != nil {
			t.Fatal(err)
		}
		name, _ := e.Get("image/filename")
		text, _ := name.Bytes()
		all[bareName(strings.TrimPrefix(string(text), "train/"))] = k
	}
	return all
}

func compareKeypoints(t *testing.T, what string, got, want *objects.Keypoints) {
	t.Helper()
	if got == nil || got.Count != want.Count || fmt.Sprint(got.Visibility, got.Num) != fmt.Sprint(want.Visibility, want.Num) || fmt.Sprintf("%s", got.Texts) != fmt.Sprintf("%s", want.Texts) {
		t.Fatalf("%s: %+v, want %+v", what, got, want)
	}
	for i := range want.X {
		if math.Abs(float64(got.X[i]-want.X[i])) > 1e-6 || math.Abs(float64(got.Y[i]-want.Y[i])) > 1e-6 {
			t.Errorf("%s: point %d is %g, %g, want %g, %g", what, i, got.X[i], got.Y[i], want.X[i], want.Y[i])
		}
	}
}
