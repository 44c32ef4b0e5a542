package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestVerifyHoldsTheLabelMapToTheManifest: without Deep. Adopt writes a good one again.
func TestVerifyHoldsTheLabelMapToTheManifest(t *testing.T) {
	const good = `item { id: 1 name: "cat" } item { id: 3 name: "dog" }`
	for text, want := range map[string]struct {
		part tfrecord.Part
		says string
	}{
		good + "\n\n": {},
		`item { name: "dog" id: 3 display_name: "Dog" } item { id: 1 name: "cat" }`: {},
		"":                                     {tfrecord.PartMissing, "does not exist"},
		good + ` item { id: 4 name: "eel" }`:   {tfrecord.PartHeader, "not those of the manifest"},
		`item { id: 1 name: "cat" }`:           {tfrecord.PartHeader, "not those of the manifest"},
		strings.Replace(good, "dog", "dig", 1): {tfrecord.PartHeader, "not those of the manifest"},
		strings.Replace(good, "3", "2", 1):     {tfrecord.PartHeader, "not those of the manifest"},
		good[:len(good)-3]:                     {tfrecord.PartParse, "line 1"},
		strings.Replace(good, "3", "1", 1):     {tfrecord.PartParse, "two items with id 1"},
	} {
		dir := t.TempDir()
		settest.ExampleFile(t, filepath.Join(dir, "n-train.tfrecord-00000-of-00001"), 4, func(i int, b *tfrecord.Builder) {
			b.Int64(objects.KeyLabel, []int64{1, 3, 1}[:i%3]...)
		})
		file := filepath.Join(dir, manifest.LabelMapFile)
		settest.PutFile(t, file, []byte(good))
		adopt := func() {
			if _, err := repair.Adopt(t.Context(), dir, repair.AdoptOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		adopt()
		if data, err := os.ReadFile(file); err != nil || string(data) != good {
			t.Fatalf("adopt wrote %q: %v", data, err)
		}
		settest.Check(t, os.Remove(file))
		if text != "" {
			settest.PutFile(t, file, []byte(text))
		}
		report, err := Files(t.Context(), []string{dir}, Options{})
		settest.Check(t, err)
		switch {
		case want.says == "":
			if !report.OK {
				t.Errorf("%q: %+v", text, report.Faults)
			}
		case len(report.Faults) != 1 || report.Faults[0].Path != file || report.Faults[0].Part != want.part || !strings.Contains(report.Faults[0].Message, want.says):
			t.Errorf("%q: %+v", text, report.Faults)
		}
		adopt()
		if report, err := Files(t.Context(), []string{dir}, Options{}); err != nil || !report.OK {
			t.Errorf("%q, adopted again: %v %+v", text, err, report.Faults)
		}
	}
}
