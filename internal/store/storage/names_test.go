package storage

import (
	"slices"
	"strings"
	"testing"
)

func TestRelativeNames(t *testing.T) {
	for paths, want := range map[string]string{
		"a.json":                          "a.json",
		"x/train.json x/val.json":         "train.json val.json",
		"x/train/a.json x/val/a.json":     "train/a.json val/a.json",
		"x/a.json x/val/deep/a.json":      "a.json val/deep/a.json",
		"/x/y/a.json /x/z/a.json /b":      "x/y/a.json x/z/a.json b",
		"gs://b/x/a.json gs://b/y/a.json": "x/a.json y/a.json",
	} {
		if got := RelativeNames(strings.Fields(paths)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", paths, got, want)
		}
	}
}
