package featurename

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	keys := []string{"image/class/label", "image/height", "label/id", "image/object/bbox/xmin", "a/name", "b/name", "name/x", "id"}
	for name, want := range map[string]string{
		"image/class/label": "image/class/label", "label": "image/class/label", "height": "image/height", "xmin": "image/object/bbox/xmin", "id": "id", "x": "name/x",
		"name": `"name" may be any of "a/name", "b/name": write the whole key`, "lable": `no feature "lable"; did you mean "image/class/label"?`,
		"caption": `no feature "caption"; there are "image/class/label", `, "class/label": `no feature "class/label"; there are `, "": `no feature ""`,
	} {
		got, err := Find(name, keys)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if _, err := Find("x", nil); err == nil {
		t.Error("a feature of none")
	}
}
