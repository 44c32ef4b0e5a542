package reshape

import (
	"strings"
	"testing"
)

// TestOptionNames: keys of manifests are flags of the command, and the features verbs themselves.
func TestOptionNames(t *testing.T) {
	for key := range optionNames {
		want := "--" + strings.ReplaceAll(key, "_", "-")
		switch key {
		case "select", "drop", "rename":
			want = "tfrec features " + key
		}
		for _, verb := range []string{"take", "sample"} {
			if got := optionName(verb, key).Word(); got != want {
				t.Errorf("%s of %s: %s, want %s", key, verb, got, want)
			}
		}
	}
	if got := optionName("sample", "later").String(); got != "option later" {
		t.Errorf("an unknown key: %q", got)
	}
}
