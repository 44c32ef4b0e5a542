package reshape

import (
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/cliname"
)

// TestOptionNames has the command print keys of manifests as its flags, and the features verbs as
// themselves.
func TestOptionNames(t *testing.T) {
	for key := range optionNames {
		want := "--" + strings.ReplaceAll(key, "_", "-")
		switch key {
		case "select", "drop", "rename":
			want = "tfrec features " + key
		}
		for _, verb := range []string{"take", "sample"} {
			if got, _ := cliname.Of(optionName(verb, key)); got != want {
				t.Errorf("%s of %s: %s, want %s", key, verb, got, want)
			}
		}
	}
	if got := optionName("sample", "later"); got != "option later" {
		t.Errorf("an unknown key: %q", got)
	}
}
