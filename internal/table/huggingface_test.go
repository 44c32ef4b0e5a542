package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHuggingFaceClasses(t *testing.T) {
	for value, want := range map[string]map[string][]string{
		`{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["cat", "dög"], "_type": "ClassLabel"}}}}`: {"label": {"cat", "dög"}},
		// A list of labels, a sequence (a JSON list in old versions), names that are no texts, other types.
		`{"info": {"features": {"a": {"feature": {"names": ["x"], "_type": "ClassLabel"}, "_type": "Sequence"}, "b": [{"names": ["x"], "_type": "ClassLabel"}],
			"c": {"names": [1], "_type": "ClassLabel"}, "d": {"names": ["x"], "_type": "Value"}, "e": {"num_classes": 3, "_type": "ClassLabel"}, "f": null}}}`: nil,
		`{"info": {"features": []}}`: nil,
		`{}`:                         nil,
		`[1]`:                        nil,
		``:                           nil,
		`{"info": {"features": {"label": {"names": ["cat"]`: nil,
	} {
		if diff := cmp.Diff(want, HuggingFaceClasses([]byte(value))); diff != "" {
			t.Errorf("%s: %s", value, diff)
		}
	}
}
