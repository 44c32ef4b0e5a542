package annotation

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func classed(format string) *Set {
	return &Set{
		Format:  format,
		Classes: []Class{{3, "cat"}, {7, "dog"}, {9, "eel"}},
		Images:  []Image{{Objects: []Object{{Class: 0}, {Class: 2}}}, {}, {Objects: []Object{{Class: 1}}}},
	}
}

func TestReorder(t *testing.T) {
	for _, c := range []struct {
		format, names, err string
		ids                []int64 // of cat, eel and dog
	}{
		{"voc", "dog eel cat", "", []int64{3, 2, 1}},
		{"yolo", "ant dog eel cat bee", "", []int64{4, 3, 2}},
		{"coco", "dog eel cat", "", []int64{3, 9, 7}},
		{"coco", "dog eel cat ant", `has "ant", which the COCO file lacks`, nil},
		{"coco", "dog cat", `no line for "eel"`, nil},
		{"voc", "cat", `no line for "dog", "eel" of`, nil},
		{"voc", "cat cat dog eel", `"cat" is in the list twice`, nil},
		{"voc", "", `no line for "cat"`, nil},
	} {
		s, names := classed(c.format), strings.Fields(c.names)
		err := s.Reorder(ClassesOf(names), false)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !reflect.DeepEqual(s, classed(c.format)) {
				t.Errorf("%s by %q: error %v, want %s; set %+v", c.format, names, err, c.err, s)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s by %q: %v", c.format, names, err)
			continue
		}
		var ids []int64
		for i, o := range append(s.Images[0].Objects, s.Images[2].Objects...) {
			ids = append(ids, s.Classes[o.Class].ID)
			if name := []string{"cat", "eel", "dog"}[i]; s.Classes[o.Class].Name != name {
				t.Errorf("%s by %q: %s became %s", c.format, names, name, s.Classes[o.Class].Name)
			}
		}
		if !slices.Equal(ids, c.ids) {
			t.Errorf("%s by %q: ids %v, want %v", c.format, names, ids, c.ids)
		}
		if !slices.IsSortedFunc(s.Classes, func(a, b Class) int { return int(a.ID - b.ID) }) || c.format != "coco" && len(s.Classes) != len(names) {
			t.Errorf("%s by %q: classes %v", c.format, names, s.Classes)
		}
	}
}

// TestReorderByLabelMap: the ids of a label map stay, and COCO's must be the same.
func TestReorderByLabelMap(t *testing.T) {
	list := []Class{{2, "ant"}, {3, "cat"}, {7, "dog"}, {9, "eel"}}
	s := classed("voc")
	if err := s.Reorder(list, true); err != nil || !slices.Equal(s.Classes, list) || s.Images[0].Objects[1].Class != 3 {
		t.Errorf("%v, %+v", err, s)
	}
	if err := classed("coco").Reorder(list[1:], true); err != nil {
		t.Error(err)
	}
	list[3].ID = 8
	if err := classed("coco").Reorder(list[1:], true); err == nil || !strings.Contains(err.Error(), `"eel" has the id 8 in the list of classes, and 9 in the COCO file`) {
		t.Error(err)
	}
}
