package features

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
)

// CheckStated returns an error if records do not have the stated features: seen are the features of all
// records, and odd the keys of those that cannot be described, as Scan.Describe returns both.
func CheckStated(stated, seen []manifest.Feature, odd []string) error {
	for _, f := range stated {
		i := slices.IndexFunc(seen, func(have manifest.Feature) bool { return have.Key == f.Key })
		switch {
		case i >= 0:
			if err := contradiction(f, seen[i]); err != nil {
				return fmt.Errorf("feature %q: %w", f.Key, err)
			}
		case slices.Contains(odd, f.Key):
			return fmt.Errorf("feature %q has values of several kinds, or none", f.Key)
		case !f.Optional:
			return fmt.Errorf("no record has the feature %q; there are %s", f.Key, Keys(seen))
		}
	}
	return nil
}

// contradiction returns an error if records have a feature otherwise than stated.
func contradiction(stated, seen manifest.Feature) error {
	switch want, is := stated.Values(), seen.Values(); {
	case stated.Kind != seen.Kind:
		return fmt.Errorf("it is stated as %s, and the records have %s", stated.Kind, seen.Kind)
	case seen.Optional && !stated.Optional:
		return errors.New("some records do not have it, and it is not stated as optional")
	case want < 0 || want == is:
		return nil
	case is < 0:
		return fmt.Errorf("it is stated as %s in each record, and the number varies", plural.Of(want, "value"))
	default:
		return fmt.Errorf("it is stated as %s in each record, and there are %d", plural.Of(want, "value"), is)
	}
}

// Keys lists the keys of features, for messages.
func Keys(features []manifest.Feature) string {
	keys := make([]string, len(features))
	for i, f := range features {
		keys[i] = f.Key
	}
	return strings.Join(keys, ", ")
}
