package convert

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/convert/internal/imagerecord"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/convert/internal/walk"
)

// TestOptionsHaveFields: each option in a manifest has a field, whose flag has the option's name.
func TestOptionsHaveFields(t *testing.T) {
	policy, err := augment.LoadPolicy("hflip:0.5")
	if err != nil {
		t.Fatal(err)
	}
	everything := ImageOptions{
		Select: SelectSpec{ByContent: true},
		Labels: LabelSpec{File: "t.csv", Separator: "|", Classes: "c.txt", SplitColumn: "split"}, Features: []FeatureSpec{{Name: "score"}},
		Annotations: AnnotationSpec{Files: []AnnotationFile{{Path: "a.json"}}, Masks: "masks"},
		Encode:      EncodeSpec{Format: JPEG}, Codec: augment.CodecOptions{AllowArithmetic: true, FloatRange: &[2]float64{0, 1}}, Augment: AugmentSpec{Policy: policy}, Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true},
	}
	recorded := func(set sample.Set) map[string]any {
		return (&imageSource{Maker: imagerecord.New(&set, nil, nil)}).recordedOptions()
	}
	for kind, all := range map[string][]map[string]any{
		"images": {recorded(sample.Set{Options: &everything, WebDataset: true, Annotations: new(annotations.Union), Carried: carried.New(&everything)}), recorded(sample.Set{Options: &ImageOptions{Encode: EncodeSpec{Format: Float32}}, Columns: walk.Columns{Key: "image", Label: "label"}})},
	} {
		for _, options := range all {
			for key := range options {
				if slices.Contains([]string{"source", plan.OptionAuto, plan.OptionGiven}, key) {
					continue // never named in a difference
				}
				field, want := plan.Kinds[kind].FieldOf(key), "--"+strings.ReplaceAll(key, "_", "-")
				if key == "labels" {
					want = "--table" // of which --labels is a part
				}
				if field.Word != want {
					t.Errorf("%s: %s is %q, which is %q on the command line", kind, key, field.Go, field.Word)
				}
			}
		}
	}
}
