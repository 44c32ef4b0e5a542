package convert

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/cliname"
)

// TestOptionsHaveFields: each option in a manifest has a field, whose flag has the option's name.
func TestOptionsHaveFields(t *testing.T) {
	policy, err := augment.LoadPolicy("hflip:0.5")
	if err != nil {
		t.Fatal(err)
	}
	everything := ImageOptions{Encode: EncodeSpec{Format: JPEG}, Codec: augment.CodecOptions{AllowArithmetic: true}, Augment: AugmentSpec{Policy: policy}, Resize: augment.ResizeSpec{Width: 8, Height: 8}}
	csv := CSVOptions{}
	for kind, all := range map[string][]map[string]any{
		"images": {everything.effective(&imageSource{}), (&ImageOptions{Encode: EncodeSpec{Format: Float32}}).effective(&imageSource{})},
		"csv":    {csv.effective(&csvSource{})},
	} {
		found := map[string]bool{}
		for _, options := range all {
			for key := range options {
				if slices.Contains([]string{"source", optionAuto, optionGiven}, key) {
					continue // never named in a difference
				}
				found[key] = true
				field := kinds[kind].fieldOf(key)
				if flag, _ := cliname.Of(field); flag != "--"+strings.ReplaceAll(key, "_", "-") {
					t.Errorf("%s: %s is %q, which is %q on the command line", kind, key, field, flag)
				}
			}
		}
		for key := range kinds[kind].fields {
			if !found[key] {
				t.Errorf("%s: no set has the option %s", kind, key)
			}
		}
	}
}
