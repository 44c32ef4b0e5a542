package kitti

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/annotationtest"
)

const rest = " -1 -1 -1 -1000 -1000 -1000 -10"

func read(t *testing.T, files map[string]string) (*annotation.Set, error) {
	t.Helper()
	return Read(t.Context(), annotationtest.Write(t, files), annotation.Options{})
}

func TestOddFiles(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"an object":         {"Car 0.00 0 -1.57 1 2 3.5 4" + rest + "\n", "line 1 Car {1 2 3.5 4} 0"},
		"with a score":      {"Car 0.00 0 -1.57 1 2 3.5 4" + rest + " 0.9", "line 1 Car {1 2 3.5 4} 0"},
		"truncated":         {"Car 0.01 0 -1.57 1 2 3.5 4" + rest, "line 1 Car {1 2 3.5 4} 1"},
		"mark and line end": {"\ufeffCar 0 0 -1.57 1 2 3.5 4" + rest + "\r\n\r\nVan\t-1 0 -1.57 0 0 1 1" + rest + "\r\n", "line 1 Car {1 2 3.5 4} 0; line 3 Van {0 0 1 1} 0"},
		"DontCare":          {"DontCare -1 -1 -10 1 2 3 4" + rest + "\nDontCare\tx\nDontCares 0 0 0 1 2 3 4" + rest, "line 3 DontCares {1 2 3 4} 0"},
		"empty":             {"", ""},
		"blank":             {" \n\n\t", ""},
		"too few":           {"Car 0 0 0 1 2 3 4", "line 1: it has 8 fields: want 15, or 16 with a score"},
		"too many":          {"Car 0 0 0 1 2 3 4" + rest + " 1 1", "line 1: it has 17 fields: want 15, or 16 with a score"},
		"not a number":      {"Car 0 0 0 1 2 x 4" + rest, `line 1: field 7 is "x": want a number`},
		"empty box":         {"Car 0 0 0 1 2 1 4" + rest, "line 1: the box is empty: x from 1 to 1, y from 2 to 4"},
		"not finite":        {"Car 0 0 0 1 2 inf 4" + rest, "line 1: the box has a coordinate of +Inf: want finite numbers"},
		"good after bad":    {"x\nCar 0 0 0 1 2 3 4" + rest, "line 2 Car {1 2 3 4} 0; line 1: it has 1 fields: want 15, or 16 with a score"},
		"not UTF-8":         {"C\xff 0 0 0 1 2 3 4" + rest, "unreadable: it is not UTF-8 text"},
		"UTF-16":            {"\xff\xfeC\x00", "unreadable: it is UTF-16: save it as UTF-8"},
		"prose":             {strings.Repeat("lorem ipsum\n", 2000), "unreadable: more than 1000 of its annotations cannot be used; line 1: it has 2 fields: want 15, or 16 with a score"},
	} {
		s, err := read(t, map[string]string{"1.txt": c.text})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		im, got := &s.Images[0], []string{}
		if im.Unreadable != "" {
			got = append(got, "unreadable: "+im.Unreadable)
		}
		for _, o := range im.Objects {
			got = append(got, fmt.Sprintf("%s %s %v %d", o.Name, s.Classes[o.Class].Name, o.Box, o.Truncated))
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

func TestClassesAndDirectories(t *testing.T) {
	line := func(class string) string { return class + " 0 0 0 1 2 3 4" + rest + "\n" }
	s, err := read(t, map[string]string{
		"training/label_2/2.txt": line("Van") + line("Car"), "training/label_2/1.TXT": line("10") + line("2") + line("DontCare"),
		"training/calib/1.txt": "P0: 1 2 3", "README.txt": "hello",
	})
	if err != nil || len(s.Images) != 2 || len(s.Faults) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	want := []annotation.Class{{ID: 1, Name: "10"}, {ID: 2, Name: "2"}, {ID: 3, Name: "Car"}, {ID: 4, Name: "Van"}}
	if fmt.Sprint(s.Classes) != fmt.Sprint(want) || s.Images[0].Name != "training/label_2/1.TXT" || s.Images[1].Objects[0].Class != 3 {
		t.Errorf("%+v", s)
	}
	if _, err := read(t, map[string]string{"1.xml": ""}); err == nil || !strings.Contains(err.Error(), "it has no .txt files, which are the annotations of kitti") {
		t.Errorf("without files: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\ufeffCar 0.5 0 -1.57 1 2 3.5 4" + rest + "\r\nDontCare\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var names annotation.Names
		im := annotation.Image{Name: "1.txt", Source: "1.txt"}
		if err := parse(&im, data, &names); err != nil {
			return
		}
		for _, o := range im.Objects {
			if err := o.Box.Check(); err != nil || o.Name == "" || !math.IsNaN(o.Area) {
				t.Errorf("%+v: %v", o, err)
			}
		}
		names.Assign(&annotation.Set{Images: []annotation.Image{im}})
	})
}

// TestUnusedFields counts what records have no place for, not what stands for no value.
func TestUnusedFields(t *testing.T) {
	lines := "Car 0 0 -10 1 2 3 4" + rest + "\nCar 0.31 2 1.85 1 2 3 4 1.5 1.6 3.7 -16.5 2.4 58.5 1.57\nVan 1 3 0 1 2 3 4" + rest + " 0.9\nDontCare -1 -1 1 1 2 3 4" + rest + "\n"
	s, err := read(t, map[string]string{"1.txt": lines, "2.txt": lines})
	if err != nil {
		t.Fatal(err)
	}
	want := annotation.Fields{"truncated as a share": 2, "occluded": 4, "alpha": 2, "dimensions": 2, "location": 2, "rotation_y": 2, "score": 2}
	if !maps.Equal(s.Unused, want) {
		t.Errorf("%v, want %v", s.Unused, want)
	}
}
