package convert

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/shard"
)

// ofOption reports whether an error is about an option.
func ofOption(err error) bool {
	var option *shard.OptionError
	return errors.As(err, &option)
}

func TestParseSplits(t *testing.T) {
	got, err := ParseSplits("train=90%, val=0.1")
	if err != nil || len(got) != 2 || got[0] != (SplitShare{Name: "train", Share: 0.9}) || got[1] != (SplitShare{Name: "val", Share: 0.1}) {
		t.Errorf("got %v, %v", got, err)
	}
	for in, want := range map[string]string{
		"":                    "NAME=SHARE",
		"train":               "NAME=SHARE",
		"train=0.5":           "add up to 0.5",
		"train=1,train=0":     "twice",
		"train=1,val=0":       "no share",
		"tr/ain=1":            "split name",
		"train=x":             "a number",
		"train=2":             "not between",
		"train=-1,val=2":      "not between",
		"train=NaN":           "not between",
		"train=0.7,val=0.299": "add up",
	} {
		if _, err := ParseSplits(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSplits(%q): %v, want %q in it", in, err, want)
		}
	}
}
