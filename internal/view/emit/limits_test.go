package emit

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// TestMoreThanWasCounted wants nothing of what was not looked at to be dropped
// in silence.
func TestMoreThanWasCounted(t *testing.T) {
	var many tfrecord.Builder
	for i := range 10_001 {
		many.Int64(fmt.Sprint(i), 1)
	}
	dir := writeSet(t, map[string][][]byte{"x.tfrecord": {many.Append(nil)}})
	if d, err := describe(t, filepath.Join(dir, "x.tfrecord")); err == nil || !strings.Contains(err.Error(), "10000") {
		t.Errorf("10,001 features: %v, %d are left", err, len(d.Features))
	}
	for _, labels := range []int{10_000, 10_001} {
		var records [][]byte
		for i := range labels {
			var b tfrecord.Builder
			b.Int64("a/label", int64(i))
			b.String("a/text", fmt.Sprint("name", i))
			records = append(records, b.Append(nil))
		}
		d, err := describe(t, filepath.Join(writeSet(t, map[string][][]byte{"x.tfrecord": records}), "x.tfrecord"))
		if err != nil {
			t.Fatal(err)
		}
		want := labels
		if labels > 10_000 {
			want = 0 // they would end before the last id
		}
		if got := len(d.Features[0].Names); got != want {
			t.Errorf("%d labels: %d names, want %d", labels, got, want)
		}
	}
}

// TestNothingToParse checks why there is no program.
func TestNothingToParse(t *testing.T) {
	var i, f tfrecord.Builder
	i.Int64("x", 1)
	f.Float("x", 1)
	d, err := describe(t, filepath.Join(writeSet(t, map[string][][]byte{"x.tfrecord": {i.Append(nil), f.Append(nil)}}), "x.tfrecord"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Program(TF, d); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), `"x": some records have float values, others int64`) {
		t.Error(err)
	}
}
