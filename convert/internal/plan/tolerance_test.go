package plan

import (
	"errors"
	"testing"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard"
)

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
	err := OptionErrorf(optname.OptionsShards, "%d is too many", 7)
	var option *shard.OptionError
	if !errors.As(err, &option) || err.Error() != "Options.Shards: 7 is too many" {
		t.Errorf("got %q, is an OptionError: %v", err, option != nil)
	}
}
