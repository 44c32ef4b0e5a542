package stats

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// By may be what follows the last slash of a key. A feature that no record has is an error.
func TestByShortName(t *testing.T) {
	file := settest.ExampleFile(t, filepath.Join(t.TempDir(), "x.tfrecord"), 12, func(i int, b *tfrecord.Builder) {
		b.Int64("image/class/label", int64(i%3))
		if i > 0 {
			b.Int64("a/second", int64(i))
		}
	})
	for by, want := range map[string]string{
		"label": "", "image/class/label": "", "a/second": "", "lable": `no feature "lable"; did you mean "image/class/label"?`,
		"second": `write the whole key, "a/second"`, // the first record does not show what is meant
	} {
		report, err := Measure(t.Context(), []string{file}, Options{By: by})
		if want == "" && (err != nil || len(report.Groups) == 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("by %q: %v", by, err)
		}
	}
}
