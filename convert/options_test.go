package convert

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard"
)

// ofOption reports whether an error is about an option.
func ofOption(err error) bool {
	var option *shard.OptionError
	return errors.As(err, &option)
}

func TestSnakeCase(t *testing.T) {
	for in, want := range map[string]string{
		"photos": "photos", "My Photos": "my_photos", "flowerPhotos-2": "flower_photos_2", "ImageNet": "image_net",
		"2024": "data_2024", "__x__": "x", "": "dataset", "日本": "dataset", "a日b": "a_b", "ABC": "abc",
	} {
		if got := naming.SnakeCase(in); got != want {
			t.Errorf("SnakeCase(%q) = %q, want %q", in, got, want)
		}
	}
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

func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		text         string
		bad, planned int64
		allows       bool
	}{
		{"0", 0, 10, true}, {"0", 1, 10, false}, {"3", 3, 10, true}, {"3", 4, 10, false},
		{"10%", 1, 10, true}, {"10%", 2, 10, false}, {"100%", 10, 10, true}, {"0%", 0, 10, true}, {"0%", 1, 10, false},
	} {
		tol, err := ParseTolerance(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := tol.allows(c.bad, c.planned); got != c.allows {
			t.Errorf("%s allows %d of %d: %v, want %v", c.text, c.bad, c.planned, got, c.allows)
		}
	}
	for _, in := range []string{"", "x", "-1", "1.5", "200%", "-3%"} {
		if _, err := ParseTolerance(in); err == nil {
			t.Errorf("ParseTolerance(%q) succeeded", in)
		}
	}
}

func TestOptionErrorsAreTold(t *testing.T) {
	err := optionError(optname.OptionsShards, "%d is too many", 7)
	if !ofOption(err) || err.Error() != "Options.Shards: 7 is too many" {
		t.Errorf("got %q, is an OptionError: %v", err, ofOption(err))
	}
}
