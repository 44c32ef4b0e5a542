package rearrange

import (
	"strings"
	"testing"
)

// TestCommonOptionNames: keys of manifests are flags of the command.
func TestCommonOptionNames(t *testing.T) {
	v := &Verb{Name: "merge"}
	for key := range optionNames {
		if got, want := v.optionName(key).Word(), "--"+strings.ReplaceAll(key, "_", "-"); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if got := v.optionName("later").String(); got != "option later" {
		t.Errorf("an unknown key: %q", got)
	}
}
