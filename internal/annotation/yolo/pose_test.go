package yolo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/annotation"
)

func TestPoses(t *testing.T) {
	for what, c := range map[string]struct{ yaml, text, want string }{
		"visibilities":      {"[2, 3]", "0 .5 .5 1 1 .25 .5 2 0.1 0 1", "[{0.25 0.5 0 2} {0.1 0 1 1}]"},
		"not labelled":      {"[2, 3]", "0 .5 .5 1 1 .25 .5 0 0.1 0 1", "[{0.1 0 1 1}]"},
		"none labelled":     {"[2, 3]", "0 .5 .5 1 1 0 0 0 0 0 0", "[]"},
		"a box alone":       {"[2, 3]", "0 .5 .5 1 1", "[]"},
		"two numbers":       {"[2, 2]", "0 .5 .5 1 1 .25 .5 0.1 0", "[{0.25 0.5 0 2} {0.1 0 1 2}]"},
		"0, 0 and negative": {"[3, 2]", "0 .5 .5 1 1 .25 .5 0 0 -1 .5", "[{0.25 0.5 0 2}]"},
		"outside":           {"[2, 3]", "0 .5 .5 1 1 1.05 .5 2 -.1 0 1", "[{1.05 0.5 0 2} {-0.1 0 1 1}] outside 2"},
		"pixels":            {"[2, 3]", "0 .5 .5 1 1 320 240 2 0 0 0", "[]; keypoints of line 1, 1: point 1 is at 320, 240: want shares of the image, from 0 to 1"},
		"a visibility of 3": {"[2, 3]", "\n0 .5 .5 1 1 .5 .5 2 0 0 3", "[]; keypoints of line 2, 2: point 2 has the visibility 3: want 0, 1 or 2"},
		"a share":           {"[2, 3]", "0 .5 .5 1 1 .5 .5 2 0 0 .9", "[]; keypoints of line 1, 1: point 2 has the visibility 0.9: want 0, 1 or 2"},
		"a broken box":      {"[2, 3]", "0 .5 .5 0 1 .5 .5 2 0 0 9", "; of line 1, 1: the box is empty: its width is 0 and its height 1"},
		"NaN":               {"[2, 3]", "0 .5 .5 1 1 nan .5 2 0 0 0", `; of line 1, 1: field 6 is "nan": want a finite number`},
		"a confidence":      {"[2, 3]", "0 .5 .5 1 1 .5 .5 2 0 0 0 .9", "; of line 1, 1: it has 12 fields: want 5 for a box, and 11 for a box and its keypoints, as kpt_shape says"},
		"too few":           {"[2, 3]", "0 .5 .5 1 1 .5 .5 2", "; of line 1, 1: it has 8 fields: want 5 for a box, and 11 for a box and its keypoints, as kpt_shape says"},
		"a polygon":         {"[2, 3]", "0 .1 .1 .2 .1 .2 .3", "; of line 1, 1: it has 7 fields: want 5 for a box, and 11 for a box and its keypoints, as kpt_shape says"},
		"only a class":      {"[2, 3]", "0", "; of line 1, 1: it has 1 fields: want 5 for a box, and 11 for a box and its keypoints, as kpt_shape says"},
	} {
		s, err := read(t, map[string]string{"1.txt": c.text, "data.yaml": "names: [cat]\nkpt_shape: " + c.yaml}, "", annotation.Options{Regions: true})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		got := ""
		for _, o := range s.Images[0].Objects {
			got += fmt.Sprint(o.Keypoints)
		}
		for _, f := range s.Images[0].Faults {
			part := string(f.Part)
			if part != "" {
				part += " "
			}
			got += fmt.Sprintf("; %sof %s, %d: %s", part, f.Name, f.Line, f.Reason)
		}
		if n := s.Unused[annotation.OutsideKeypoints]; n > 0 {
			got += fmt.Sprint(" outside ", n)
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
	}
}

func TestKeypointsOfYAML(t *testing.T) {
	const line = "0 0.5 0.5 1 1"
	for what, c := range map[string]struct {
		files []string
		want  string
	}{
		"a shape":               {[]string{"data.yaml", "names: [a]\nkpt_shape: [17, 3]"}, "{17 [] []}"},
		"null":                  {[]string{"data.yaml", "names: [a]\nkpt_shape:\nflip_idx: ~"}, "{0 [] []}"},
		"no shape":              {[]string{"data.yaml", "names: [a]\nflip_idx: [7]"}, "{0 [] []}"},
		"an alias":              {[]string{"data.yaml", "x: &x [3, 2]\nnames: [a]\nkpt_shape: *x"}, "{3 [] []}"},
		"a flip":                {[]string{"data.yaml", "names: [a]\nkpt_shape: [3, 3]\nflip_idx: [0, 2, 1]"}, "{3 [] [0 2 1]}"},
		"names":                 {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]\nkpt_names: {0: [x, y]}"}, "{2 [x y] []}"},
		"a list of lists":       {[]string{"data.yaml", "names: [a, b]\nkpt_shape: [2, 3]\nkpt_names: [[x, y], [x, y]]"}, "{2 [x y] []}"},
		"a list in a list":      {[]string{"data.yaml", "names: [a, b]\nkpt_shape: [2, 3]\nkpt_names: [[x, [y]], x]"}, "kpt_names: want a list of names, or one for each class"},
		"names without class":   {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]\nkpt_names: [x, y]"}, "{2 [x y] []}"},
		"equal names":           {[]string{"data.yaml", "names: [a, b]\nkpt_shape: [2, 3]\nkpt_names: {0: [x, y], 1: [x, y]}"}, "{2 [x y] []}"},
		"names that differ":     {[]string{"data.yaml", "names: [a, b]\nkpt_shape: [2, 3]\nkpt_names: {0: [x, y], 1: [y, x]}"}, "{2 [] []} kpt_names 2"},
		"two equal files":       {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]", "b/data.yaml", "names: [a]\nkpt_shape: [2, 3]", "c/classes.txt", "a"}, "{2 [] []}"},
		"two files":             {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]", "b/data.yaml", "names: [a]\nkpt_shape: [2, 2]"}, "have different keypoints: remove one"},
		"one number":            {[]string{"data.yaml", "names: [a]\nkpt_shape: [17]"}, "data.yaml: kpt_shape is not two numbers"},
		"text":                  {[]string{"data.yaml", "names: [a]\nkpt_shape: person"}, "kpt_shape is not two numbers"},
		"a fraction":            {[]string{"data.yaml", "names: [a]\nkpt_shape: [1.5, 3]"}, "kpt_shape is not two numbers"},
		"no points":             {[]string{"data.yaml", "names: [a]\nkpt_shape: [0, 3]"}, "kpt_shape has 0 keypoints: want 1 to 1024"},
		"many points":           {[]string{"data.yaml", "names: [a]\nkpt_shape: [1025, 3]"}, "kpt_shape has 1025 keypoints: want 1 to 1024"},
		"four numbers":          {[]string{"data.yaml", "names: [a]\nkpt_shape: [17, 4]"}, "kpt_shape has 4 numbers for each keypoint: want 2, or 3"},
		"a short flip":          {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]\nflip_idx: [0]"}, "flip_idx is wrong: want the index of each of the 2 keypoints"},
		"a flip out of range":   {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]\nflip_idx: [0, 2]"}, "flip_idx is wrong"},
		"a flip of three":       {[]string{"data.yaml", "names: [a]\nkpt_shape: [3, 3]\nflip_idx: [1, 2, 0]"}, "so that two flips change nothing"},
		"too few names":         {[]string{"data.yaml", "names: [a]\nkpt_shape: [3, 3]\nkpt_names: [x]"}, "kpt_names: 1 names for the 3 keypoints of kpt_shape"},
		"names of another sort": {[]string{"data.yaml", "names: [a]\nkpt_shape: [3, 3]\nkpt_names: {0: x}"}, "kpt_names: want a list of names, or one for each class"},
		"a name twice":          {[]string{"data.yaml", "names: [a]\nkpt_shape: [2, 3]\nkpt_names: [x, x]"}, `two keypoints are named "x"`},
	} {
		files := map[string]string{"1.txt": line}
		for i := 0; i < len(c.files); i += 2 {
			files[c.files[i]] = c.files[i+1]
		}
		s, err := read(t, files, "", annotation.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", what, err, c.want)
			}
			continue
		}
		got := fmt.Sprint(s.Keypoints)
		if n := s.Unused["kpt_names"]; n > 0 {
			got += fmt.Sprint(" kpt_names ", n)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestRandomPoses writes random poses, and compares what is read with them.
func TestRandomPoses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 30 {
		count, dims := 1+r.IntN(20), 2+r.IntN(2)
		text, want := "", [][]annotation.Keypoint{}
		for range r.IntN(8) {
			text += "0 0.5 0.5 0.5 0.5"
			if r.IntN(5) == 0 {
				text += "\n"
				want = append(want, nil)
				continue
			}
			var points []annotation.Keypoint
			for i := range count {
				k := annotation.Keypoint{X: r.Float64(), Y: r.Float64(), Index: int16(i), Visibility: int8(r.IntN(3))}
				switch {
				case dims == 3:
					text += fmt.Sprintf(" %.17g %.17g %d", k.X, k.Y, k.Visibility)
				case k.Visibility == 0:
					text += " 0 0.0"
				default:
					text += fmt.Sprintf(" %.17g %.17g", k.X, k.Y)
					k.Visibility = 2
				}
				if k.Visibility > 0 {
					points = append(points, k)
				}
			}
			text += "\n"
			want = append(want, points)
		}
		s, err := read(t, map[string]string{"1.txt": text, "data.yaml": fmt.Sprintf("names: [a]\nkpt_shape: [%d, %d]", count, dims)}, "", annotation.Options{})
		if err != nil || len(s.Images[0].Faults) > 0 {
			t.Fatal(err, s)
		}
		got := [][]annotation.Keypoint{}
		for _, o := range s.Images[0].Objects {
			got = append(got, o.Keypoints)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
	}
}
