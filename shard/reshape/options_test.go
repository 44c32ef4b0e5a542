package reshape

import (
	"strings"
	"testing"
)

// TestOptionNames: keys of manifests are flags of the command, and the features verbs themselves.
func TestOptionNames(t *testing.T) {
	for verb, names := range ownOptions {
		for key, name := range names {
			want := "--" + strings.ReplaceAll(key, "_", "-")
			switch key {
			case "select", "drop", "rename":
				want = "tfrec features " + key
			}
			if got := name.Word(); got != want {
				t.Errorf("%s of %s: %s, want %s", key, verb, got, want)
			}
		}
	}
}
