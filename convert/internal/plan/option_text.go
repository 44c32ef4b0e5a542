package plan

import (
	"encoding/json"
	"strings"

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Keys of options in manifests that conversions look at. The others are in tables of options alone.
const (
	// OptionSource is the kind of input: images, csv or table.
	OptionSource = "source"
	// OptionLabels is the source of labels: directories, a table, a column, or none.
	OptionLabels = "labels"
	// OptionAntialias is an option of sets of resized images.
	OptionAntialias = "antialias"
)

// optionName returns the name of the option that a manifest has under a key. An unknown key, such as
// one of another kind of input or version, is its own name.
func (r *target) optionName(key string) optname.Name {
	if o := r.table.ByKey(key); o != nil {
		return optname.Name(o.Field())
	}
	return optname.Name(key)
}

// optionText formats a recorded option as on a command line.
func (r *target) optionText(key string, recorded map[string]json.RawMessage) string {
	return setdir.OptionText(recorded[key], func(json.RawMessage) (string, bool) {
		o := r.table.ByKey(key)
		if o == nil || o.Many != option.Repeated || o.Restore == nil {
			return "", false
		}
		values, err := o.Restore(recorded)
		return strings.Join(values, " "), err == nil
	})
}
