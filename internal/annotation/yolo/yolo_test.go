package yolo

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// read writes files below a new directory, and reads the directory of a name in it.
func read(t *testing.T, files map[string]string, below string, o annotation.Options) (*annotation.Set, error) {
	t.Helper()
	return Read(t.Context(), filepath.Join(annotationtest.Write(t, files), below), o)
}

func TestOddFiles(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"an object":          {"1 0.5 0.5 0.5 0.25\n", "line 1 dog {0.25 0.375 0.75 0.625}"},
		"a confidence":       {"1 0.5 0.5 0.5 0.25 0.9", "line 1 dog {0.25 0.375 0.75 0.625}"},
		"a polygon":          {"0 0.1 0.2 0.3 0.25 0.2 0.5", "line 1 cat {0.1 0.2 0.3 0.5} [0.1 0.2 0.3 0.25 0.2 0.5] in 1x1"},
		"mark and line ends": {"\ufeff1 0.5 0.5 0.5 0.25\r\n\r\n  0\t0.5 0.5 1 1 \r\n", "line 1 dog {0.25 0.375 0.75 0.625}; line 3 cat {0 0 1 1}"},
		"empty":              {"", ""},
		"outside":            {"0 0 0 1 1", "line 1 cat {-0.5 -0.5 0.5 0.5}"},
		"class 2":            {"2 0.5 0.5 1 1", "line 1: the class is 2: there are 2, from 0"},
		"class 1e300":        {"1e300 0.5 0.5 1 1", "line 1: the class is 1e+300: there are 2, from 0"},
		"class -1":           {"-1 0.5 0.5 1 1", "line 1: the class is -1: want its number, from 0"},
		"class 0.5":          {"0.5 0.5 0.5 1 1", "line 1: the class is 0.5: want its number, from 0"},
		"class cat":          {"cat 0.5 0.5 1 1", `line 1: field 1 is "cat": want a finite number`},
		"NaN":                {"0 nan 0.5 1 1", `line 1: field 2 is "nan": want a finite number`},
		"no width":           {"0 0.5 0.5 0 1", "line 1: the box is empty: its width is 0 and its height 1"},
		"negative":           {"0 0.5 0.5 1 -1", "line 1: the box is empty: its width is 1 and its height -1"},
		"lost in rounding":   {"0 0.5 0.5 1e-300 1", "line 1: the box is empty: x from 0.5 to 0.5, y from 0 to 1"},
		"few":                {"0 0.5 0.5 1", "line 1: it has 4 fields: want the class, x, y, width and height"},
		"even":               {"0 0.5 0.5 1 1 1 1 1", "line 1: it has 8 fields: want 5 or 6 for a box, and an odd number for a polygon; keypoints want kpt_shape in data.yaml"},
		"flat polygon":       {"0 0.1 0.2 0.3 0.2 0.4 0.2", "line 1: the box is empty: x from 0.1 to 0.4, y from 0.2 to 0.2"},
		"near the edge":      {"0 -0.05 0.2 1.05 0.25 0.2 0.5", "line 1 cat {-0.05 0.2 1.05 0.5} [-0.05 0.2 1.05 0.25 0.2 0.5] in 1x1"},
		"polygon in pixels":  {"0 0 1 640 1 640 480", "line 1: field 4 of a polygon is 640: want shares of the image, from 0 to 1"},
		"left of the image":  {"0 0.1 0.2 -0.3 0.2 0.4 0.3", "line 1: field 4 of a polygon is -0.3: want shares of the image, from 0 to 1"},
		"a track":            {"0 .5 .5 .1 .1 0.9 3", "line 1: field 7 of a polygon is 3: want shares of the image, from 0 to 1"},
		"a pose":             {"0 .5 .5 .1 .1 .2 .2 2 .3 .3 2 .4 .4 2 .5 .5 0", "line 1: field 8 of a polygon is 2: want shares of the image, from 0 to 1"},
		"names for numbers":  {"cat 0.5 0.5 1 1\ncat 0.5 0.5 1 1", `line 1: field 1 is "cat": want a finite number; line 2: field 1 is "cat": want a finite number`},
		"prose":              {"hello\nthere are 2\n", `unreadable: it is not a file of labels: its first line is "hello"`},
		"good after bad":     {"x\n0 0.5 0.5 1 1", `line 2 cat {0 0 1 1}; line 1: field 1 is "x": want a finite number`},
		"list after bad":     {"x\n0 0.5 0.5 1 1\na.jpg", `line 2 cat {0 0 1 1}; line 1: field 1 is "x": want a finite number; line 3: field 1 is "a.jpg": want a finite number`},
		"not UTF-8":          {"\xff", "unreadable: it is not UTF-8 text"},
	} {
		s, err := read(t, map[string]string{"1.txt": c.text, "classes.txt": "cat\ndog"}, "", annotation.Options{Regions: true})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		im, got := &s.Images[0], []string{}
		if im.Unreadable != "" {
			got = append(got, "unreadable: "+im.Unreadable)
		} else if !im.Relative {
			t.Errorf("%s: not relative", what)
		}
		for _, o := range im.Objects {
			object := fmt.Sprintf("%s %s %v", o.Name, s.Classes[o.Class].Name, o.Box)
			if o.Region != nil {
				object += fmt.Sprint(" ", o.Region.Polygons[0], " in ", o.Region.Width, "x", o.Region.Height)
			}
			got = append(got, object)
		}
		for _, f := range im.Faults {
			if fmt.Sprintf("line %d", f.Line) != f.Name || f.Source != "1.txt" {
				t.Errorf("%s: %+v", what, f)
			}
			got = append(got, f.Name+": "+f.Reason)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", what, got, c.want)
		}
	}
}

func TestClasses(t *testing.T) {
	const line = "0 0.5 0.5 1 1"
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ","))
	}
	for what, c := range map[string]struct {
		files []string // name, text, ...
		at    string
		want  string // names, or the error
	}{
		"classes.txt":                  {[]string{"1.txt", line, "classes.txt", "cat\ndog\n"}, "", "[{1 cat} {2 dog}]"},
		"mark, line ends, blanks":      {[]string{"1.txt", line, "classes.txt", "\ufeffcat \r\nred dog\r\n\r\n"}, "", "[{1 cat} {2 red dog}]"},
		"obj.names in the parent":      {[]string{"a/1.txt", line, "obj.names", "cat\ndog"}, "a", "[{1 cat} {2 dog}]"},
		"a list":                       {[]string{"1.txt", line, "data.yaml", "train: x\nnc: 2\nnames: ['cat', dog]"}, "", "[{1 cat} {2 dog}]"},
		"a map":                        {[]string{"1.txt", line, "data.yaml", "names:\n  1: dog\n  0: 'no'\n"}, "", "[{1 no} {2 dog}]"},
		"an alias":                     {[]string{"1.txt", line, "data.yaml", "x: &x [cat, dog]\nnames: *x"}, "", "[{1 cat} {2 dog}]"},
		"data.yaml above labels/train": {[]string{"labels/train/1.txt", line, "data.yaml", "names: [cat, dog]"}, "labels/train", "[{1 cat} {2 dog}]"},
		"data.yaml beside labels":      {[]string{"labels/train/1.txt", line, "data.yaml", "names: [cat, dog]", "README.txt", "hello"}, "", "[{1 cat} {2 dog}]"},
		"a list in each split":         {[]string{"train/1.txt", line, "train/classes.txt", "cat", "val/2.txt", line, "val/classes.txt", "cat\n"}, "", "[{1 cat}]"},
		"lists that differ":            {[]string{"1.txt", line, "classes.txt", "cat", "data.yaml", "names: [dog]"}, "", "list different classes: remove one"},
		"data.yaml above train/labels": {[]string{"train/labels/1.txt", line, "Data.YAML", "names: [cat, dog]"}, "train/labels", "[{1 cat} {2 dog}]"},
		"in another case":              {[]string{"a/1.txt", line, "Classes.txt", "cat"}, "a", "[{1 cat}]"},
		"below in another case":        {[]string{"a/1.txt", line, "a/b/Classes.TXT", "cat"}, "a", "[{1 cat}]"},
		"the nearest":                  {[]string{"labels/train/1.txt", line, "labels/classes.txt", "cat", "data.yaml", "names: [dog]"}, "labels/train", "[{1 cat}]"},
		"null":                         {[]string{"1.txt", line, "data.yaml", "names: [cat, ~]"}, "", "class 1, counted from 0, has no name"},
		"nothing":                      {[]string{"1.txt", line, "data.yaml", "names: {0: cat, 1: }"}, "", "class 1, counted from 0, has no name"},
		"a directory":                  {[]string{"a/1.txt", line, "classes.txt/x", "cat"}, "a", "add classes.txt with a class on each line"},
		"none":                         {[]string{"1.txt", line}, "", "add classes.txt with a class on each line"},
		"too far above":                {[]string{"a/b/1.txt", line, "classes.txt", "cat"}, "a/b", "add classes.txt with a class on each line"},
		"an empty list":                {[]string{"1.txt", line, "classes.txt", "\n"}, "", "class 0, counted from 0, has no name"},
		"a blank line":                 {[]string{"1.txt", line, "classes.txt", "cat\n\ndog"}, "", "class 1, counted from 0, has no name"},
		"twice":                        {[]string{"1.txt", line, "classes.txt", "cat\ndog\ncat"}, "", `the classes 0 and 2, counted from 0, are both "cat"`},
		"long":                         {[]string{"1.txt", line, "classes.txt", strings.Repeat("x", 2000)}, "", "longer than 1024 bytes"},
		"not UTF-8":                    {[]string{"1.txt", line, "classes.txt", "\xff"}, "", "not UTF-8"},
		"larger than the limit":        {[]string{"1.txt", line, "classes.txt", strings.Repeat("x\n", 1<<20)}, "", "limit"},
		"not YAML":                     {[]string{"1.txt", line, "data.yaml", "names: [cat"}, "", "cannot be read as YAML"},
		"no names":                     {[]string{"1.txt", line, "data.yaml", "nc: 2"}, "", "it has no names"},
		"a map with a gap":             {[]string{"1.txt", line, "data.yaml", "names: {0: cat, 2: dog}"}, "", `names has the key "2": want each number from 0 to 1 once`},
		"names in names":               {[]string{"1.txt", line, "data.yaml", "names: [cat, [dog]]"}, "", "class 1, counted from 0, has no name"},
		"keypoints":                    {[]string{"1.txt", line, "data.yaml", "kpt_shape: [17, 3]\nnames: [cat]"}, "", "[{1 cat}]"},
		"a bomb":                       {[]string{"1.txt", line, "data.yaml", bomb + "names: *j"}, "", "data.yaml: "},
		"an alias of itself":           {[]string{"1.txt", line, "data.yaml", "names: &a [cat, *a]"}, "", "data.yaml: "},
		"no labels":                    {[]string{"1.xml", line, "classes.txt", "cat"}, "", "it has no .txt files"},
	} {
		files := map[string]string{}
		for i := 0; i < len(c.files); i += 2 {
			files[c.files[i]] = c.files[i+1]
		}
		s, err := read(t, files, c.at, annotation.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", what, err, c.want)
			}
			continue
		}
		if got := fmt.Sprint(s.Classes); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
		for _, im := range s.Images {
			if len(im.Objects) != 1 || len(im.Faults) > 0 || im.Unreadable != "" {
				t.Errorf("%s: %+v", what, im)
			}
		}
	}
	s, err := read(t, map[string]string{"1.txt": line}, "", annotation.Options{Classes: []string{"eel"}})
	if err != nil || fmt.Sprint(s.Classes) != "[{1 eel}]" {
		t.Errorf("with classes given: %+v, %v", s, err)
	}
}

func TestListsOfImagesAreLeftOut(t *testing.T) {
	s, err := read(t, map[string]string{"obj.names": "cat", "train.txt": "data/obj_train_data/1.jpg\ndata/obj_train_data/2.PNG\n", "val.txt": "\r\n/x/3.JPG\r\n", "obj_train_data/1.txt": "0 0.5 0.5 1 1", "obj_train_data/2.txt": ""}, "", annotation.Options{})
	if err != nil || len(s.Images) != 2 || s.Images[0].Name != "obj_train_data/1.txt" || s.Images[1].Source != "obj_train_data/2.txt" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestRandom writes random boxes and polygons, and compares what is read with them.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		files, want := map[string]string{"classes.txt": "a\nb\nc\nd\n"}, map[string][]string{}
		for i := range r.IntN(30) + 1 {
			name, text := fmt.Sprintf("%d/%03d.txt", i%3, i), ""
			want[name] = nil
			for range r.IntN(5) {
				class := r.IntN(4)
				x, y, w, h := r.Float64(), r.Float64(), r.Float64()+0.01, r.Float64()+0.01
				text += fmt.Sprintf("%d %.17g %.17g %.17g %.17g\r\n", class, x, y, w, h)
				want[name] = append(want[name], fmt.Sprint(class, annotation.Box{XMin: x - w/2, YMin: y - h/2, XMax: x + w/2, YMax: y + h/2}))
			}
			files[name] = text
		}
		for _, workers := range []int{1, 4} {
			s, err := read(t, files, "", annotation.Options{Workers: workers})
			if err != nil || len(s.Images) != len(want) {
				t.Fatal(len(s.Images), err)
			}
			for _, im := range s.Images {
				var got []string
				for _, o := range im.Objects {
					got = append(got, fmt.Sprint(o.Class, o.Box))
				}
				if fmt.Sprint(got) != fmt.Sprint(want[im.Name]) {
					t.Fatalf("%s: %v, want %v", im.Name, got, want[im.Name])
				}
			}
		}
	}
}

// TestUnusedFields counts what of random files is not kept: confidences, and polygons unless the pixels
// of objects are asked for.
func TestUnusedFields(t *testing.T) {
	random := torture.Rand(t)
	for i := range 20 {
		files, confidences, polygons := map[string]string{"classes.txt": "cat"}, int64(0), int64(0)
		for range 1 + random.IntN(5) {
			text := ""
			for range random.IntN(20) {
				switch random.IntN(4) {
				case 0:
					text += "0 0.5 0.5 0.2 0.1\n"
				case 1:
					text += "0 0.5 0.5 0.2 0.1 0.75\n"
					confidences++
				case 2:
					text += "0 0.1 0.1 0.5 0.1 0.3 0.4\n"
					polygons++
				case 3:
					text += []string{"0 0.5 0.5 0 0.1 0.75\n", "0 0.1 0.1 0.5 0.1 0.3 0.1\n"}[random.IntN(2)] // empty boxes
				}
			}
			files[fmt.Sprintf("%d.txt", len(files))] = text
		}
		for _, regions := range []bool{false, true} {
			want := annotation.Fields{}
			want.Count("confidence", confidences)
			if !regions {
				want.Count("polygon", polygons)
			}
			s, err := read(t, files, "", annotation.Options{Regions: regions})
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(s.Unused, want) {
				t.Errorf("%d, regions %v: %v, want %v\n%q", i, regions, s.Unused, want, files)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\ufeff1 0.5 0.5 0.5 0.25 0.9\r\n0 0.1 0.2 0.3 0.25 0.2 0.5"))
	f.Add([]byte("a.jpg\n"))
	f.Add([]byte("1 0.5 0.5 0.5 0.25 0.4 0.4 2 0 0 0\n0 0.5 0.5 1 1 2 0 1 0 0 3"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range []*parser{{classes: 2}, {classes: 2, regions: true}, {classes: 2, regions: true, pose: pose{Keypoints: annotation.Keypoints{Count: 2}, dims: 3}}} {
			im := annotation.Image{Name: "1.txt", Source: "1.txt"}
			if err := p.parse(&im, data); err != nil {
				return
			}
			for _, o := range im.Objects {
				if err := o.Box.Check(); err != nil || o.Class < 0 || o.Class > 1 || o.Name == "" || !math.IsNaN(o.Area) || o.Region != nil && len(o.Region.Polygons[0]) < 6 {
					t.Errorf("%+v: %v", o, err)
				}
				if len(o.Keypoints) > p.pose.Count {
					t.Errorf("%+v", o)
				}
			}
		}
	})
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte("names: [cat, dog]"))
	f.Add([]byte("x: &x {0: cat, 1: dog}\nnames: *x"))
	f.Add([]byte("names: &a [*a]\nkpt_shape: [1, 2]"))
	f.Add([]byte("names: [a]\nkpt_shape: [2, 3]\nflip_idx: [1, 0]\nkpt_names: {0: [x, y]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := readYAML(data)
		if err != nil {
			return
		}
		if len(l.classes) > len(data) {
			t.Errorf("%d names in %d bytes", len(l.classes), len(data))
		}
		_ = check(l.classes)
		if k := &l.pose; k.Check() != nil || k.Count > 0 && (k.dims < 2 || k.dims > 3 || k.Names != nil && len(k.Names) != k.Count || k.Flip != nil && len(k.Flip) != k.Count) {
			t.Errorf("%+v", k)
		}
	})
}

// TestFilesThatAreNoLabels: what tools put beside labels is not an annotation.
func TestFilesThatAreNoLabels(t *testing.T) {
	s, err := read(t, map[string]string{
		"obj.names": "cat", "1.txt": "0 0.5 0.5 1 1", "2.txt": "", "train.txt": "data/1.jpg", "valid.txt": "", "Test.TXT": "\n",
		"README.txt": "hello", "README.roboflow.txt": "a\nb 4.0", "below/test.txt": "",
	}, "", annotation.Options{})
	var names []string
	for _, im := range s.Images {
		names = append(names, im.Name)
	}
	if want := []string{"1.txt", "2.txt", "below/test.txt"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
}

// TestCurrentDirectory: the list of classes of "." is above it, too.
func TestCurrentDirectory(t *testing.T) {
	dir := t.TempDir()
	labels := filepath.Join(dir, "labels", "train")
	if err := os.MkdirAll(labels, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{filepath.Join(labels, "1.txt"): "0 0.5 0.5 1 1", filepath.Join(dir, "data.yaml"): "names: [cat]"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(labels)
	if s, err := Read(t.Context(), ".", annotation.Options{}); err != nil || len(s.Classes) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
