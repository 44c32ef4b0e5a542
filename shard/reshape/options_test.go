package reshape

import (
	"strings"
	"testing"
)

// TestOptionNames: keys of manifests are flags of the command, and the features verbs themselves.
func TestOptionNames(t *testing.T) {
	for name := range ownOptions {
		v := newVerb(name)
		for key := range v.names {
			want := "--" + strings.ReplaceAll(key, "_", "-")
			switch key {
			case "select", "drop", "rename":
				want = "tfrec features " + key
			}
			if got := v.optionName(key).Word(); got != want {
				t.Errorf("%s of %s: %s, want %s", key, name, got, want)
			}
		}
	}
}

// TestCommonOptionNames: keys of manifests are flags of the command.
func TestCommonOptionNames(t *testing.T) {
	v := &verb{name: "merge"}
	for key := range optionNames {
		if got, want := v.optionName(key).Word(), "--"+strings.ReplaceAll(key, "_", "-"); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if got := v.optionName("later").String(); got != "option later" {
		t.Errorf("an unknown key: %q", got)
	}
}
