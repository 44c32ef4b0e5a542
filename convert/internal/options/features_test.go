package options

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard"
)

func TestParseFeatures(t *testing.T) {
	for s, want := range map[string][]FeatureSpec{
		"score":                   {{Name: "score"}},
		"score:float,n:int64,who": {{"score", tables.TypeFloat}, {"n", tables.TypeInt64}, {Name: "who"}},
		"a:b:bytes,é x/y":         {{"a:b", tables.TypeBytes}, {Name: "é x/y"}},
	} {
		got, err := ParseFeatures(s)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", s, got, err)
		}
		var parts []string
		for _, f := range got {
			parts = append(parts, f.String())
		}
		if again := strings.Join(parts, ","); again != s {
			t.Errorf("%s is written as %s", s, again)
		}
	}
	for s, want := range map[string]string{
		"":         `"": want NAME`,
		"a,,b":     `"": want NAME`,
		":float":   `":float": want NAME`,
		"a:double": `"a:double": type "double": want int64, float or bytes`,
		"a:":       `type "": want int64`,
	} {
		if _, err := ParseFeatures(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}

func TestFeaturesThatRecordsCannotHave(t *testing.T) {
	for want, features := range map[string][]FeatureSpec{
		"":                        {{Name: "a"}, {Name: "b", Type: tables.TypeFloat}},
		"a feature has no name":   {{Name: ""}},
		`"a" is given twice`:      {{Name: "a"}, {Name: "a", Type: tables.TypeFloat}},
		`"key" is a feature that`: {{Name: "key"}},
		`"a": type "double"`:      {{Name: "a", Type: "double"}},
	} {
		err := checkFeatures(optname.ImageOptionsFeatures, features, func(key string) bool { return key == "key" })
		if want == "" && err != nil || want != "" && (!errors.As(err, new(*shard.OptionError)) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %q", features, err, want)
		}
	}
}
