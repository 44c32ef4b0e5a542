package export

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/manifest"
)

// A label map next to the records has the classes that no object has, and must agree with the
// records.
func TestLabelMap(t *testing.T) {
	in := exporttest.WriteRecords(t, "d.tfrecord", drawn("1", 9, 9, []object{{5, "e", [4]float64{1, 1, 2, 2}}}))
	path := filepath.Join(filepath.Dir(in), manifest.LabelMapFile)
	for _, c := range []struct{ text, want, fault string }{
		{text: `item { id: 9 name: "x" } item { id: 5 name: "e" } item { id: 1 name: "a" }`, want: "a\ne\nx\n"},
		{text: `item { id: 5 name: "f" }`, fault: `class 5 is "e" here and "f" before`},
		{text: "item {\n id: x }", fault: "label_map.pbtxt: line 2: "},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		_, err := exportTo(t, out, spec.Options{Format: spec.YOLO}, in)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v, want %s", err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, out, "classes.txt"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The classes of a set without a label map are those of its manifest, if they are labels of objects.
func TestLabelsOfTheManifest(t *testing.T) {
	dir := t.TempDir()
	in := exporttest.WriteRecords(t, "d.tfrecord", drawn("1", 9, 9, []object{{2, "", [4]float64{1, 1, 2, 2}}}))
	if err := os.Rename(in, filepath.Join(dir, "d-train.tfrecord-00000-of-00001")); err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]string{"label": "a\nc\n", "scalar": "2\n"} {
		m := fmt.Sprintf(`{"format":"tfrec.manifest","version":1,"name":"d","labels":["","a","c"],
"features":[{"key":"image/object/class/label","kind":"int64","class":%q,"shape":[-1]}],
"splits":[{"name":"train","records":1,"shards":[{"file":"d-train.tfrecord-00000-of-00001","records":1}]}]}`, class)
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(m), 0o644); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out")
		if _, err := exportTo(t, out, spec.Options{Format: spec.YOLO}, dir); err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, out, "classes.txt"); got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}
