package options

import (
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/optname"
)

// FeatureSpec names a value that comes with an image and becomes a feature of its record: a column
// of a table, or a key of a JSON object.
type FeatureSpec struct {
	// Name of the column or key, case-sensitive, which is also the key of the feature.
	Name string
	// Type of its values. Default: the type that the column has; of a column of text, int64 when
	// all values are integers, float when all are numbers, and bytes otherwise.
	Type tables.ColumnType
}

// checkStored returns an error for a type that is none, or that only columns of tables without images
// have.
func checkStored(t tables.ColumnType) error {
	if t != tables.TypeInt64 && t != tables.TypeFloat && t != tables.TypeBytes {
		return fmt.Errorf("type %q: want int64, float or bytes", t)
	}
	return nil
}

// ParseFeatures parses "NAME[:TYPE],...". Only a type may follow the last colon of a name, so that
// a column named a:b is "a:b:bytes".
func ParseFeatures(s string) ([]FeatureSpec, error) {
	var features []FeatureSpec
	for part := range strings.SplitSeq(s, ",") {
		f := FeatureSpec{Name: part}
		if i := strings.LastIndexByte(part, ':'); i >= 0 {
			t := tables.ColumnType(part[i+1:])
			if err := checkStored(t); err != nil {
				return nil, fmt.Errorf("%q: %w", part, err)
			}
			f = FeatureSpec{Name: part[:i], Type: t}
		}
		if f.Name == "" {
			return nil, fmt.Errorf("%q: want NAME or NAME:TYPE", part)
		}
		features = append(features, f)
	}
	return features, nil
}

// String returns the form that ParseFeatures parses.
func (f FeatureSpec) String() string {
	if f.Type == "" {
		return f.Name
	}
	return f.Name + ":" + string(f.Type)
}

// checkFeatures returns an error for features that a record cannot have: those with an empty name,
// with a name that is given twice, or with the name of one of the image's own features, which taken
// reports.
func checkFeatures(field optname.Name, features []FeatureSpec, taken func(key string) bool) error {
	seen := make(map[string]bool, len(features))
	for _, f := range features {
		switch {
		case f.Name == "":
			return plan.OptionErrorf(field, "a feature has no name")
		case seen[f.Name]:
			return plan.OptionErrorf(field, "%q is given twice", f.Name)
		case taken(f.Name):
			return plan.OptionErrorf(field, "%q is a feature that every image has: give the column another name", f.Name)
		}
		if err := checkStored(f.Type); f.Type != "" && err != nil {
			return plan.OptionErrorf(field, "%q: %v", f.Name, err)
		}
		seen[f.Name] = true
	}
	return nil
}
