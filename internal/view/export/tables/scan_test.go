package tables

import (
	"errors"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestChangedInputIsNoticed gives the second pass other records than the first.
func TestChangedInputIsNoticed(t *testing.T) {
	in, err := input.Open(t.Context(), []string{exporttest.WriteRecords(t, "x", func(b *tfrecord.Builder) { b.Int64("x", 1) })}, &spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := scanInput(t.Context(), in, &spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]exporttest.Build{
		"another kind":     func(b *tfrecord.Builder) { b.Float("x", 1) },
		"more values":      func(b *tfrecord.Builder) { b.Int64("x", 1, 2) },
		"a feature before": func(b *tfrecord.Builder) { b.Int64("a", 1); b.Int64("x", 1) },
		"a feature behind": func(b *tfrecord.Builder) { b.Int64("x", 1); b.Int64("y", 1) },
	} {
		var b tfrecord.Builder
		change(&b)
		var r input.Row
		if err := r.Parse(b.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.cells(nil, &r); !errors.Is(err, input.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
