package convert

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/optname"
)

// kind is what is known of a kind of input without an input: how messages show the options of a
// set.
type kind struct {
	// fields are the fields that set the effective options, by manifest key; the options common to
	// all kinds are in sharedFields.
	fields map[string]optname.Name
	// text formats the value of an option that is neither a string nor a list of strings for
	// people, and reports whether it knows it. It may be nil.
	text func(raw json.RawMessage) (string, bool)
}

// kinds maps the option "source" of a manifest to its kind.
var kinds = map[string]kind{"images": imageKind, "csv": csvKind, "table": tableKind}

// sharedFields are the fields of the options common to all kinds.
var sharedFields = map[string]optname.Name{
	optionSplits: optname.OptionsSplits, optionShards: optname.OptionsShards, "even": optname.OptionsEven,
	"compression": optname.OptionsCompression, "limit": optname.OptionsLimit, "seed": optname.OptionsSeed,
}

// kind returns the run's kind of input.
func (r *run) kind() kind {
	var name string
	_ = json.Unmarshal(r.options["source"], &name) // of another version: an unknown kind
	return kinds[name]
}

// fieldOf returns what sets an option. An unknown key, such as one from another kind or version, is
// its own name.
func (k kind) fieldOf(key string) optname.Name {
	for _, fields := range []map[string]optname.Name{k.fields, sharedFields} {
		if field, ok := fields[key]; ok {
			return field
		}
	}
	return optname.Name{Go: key, Word: key}
}

// optionText formats the value of an option as on a command line.
func (k kind) optionText(raw json.RawMessage) string {
	var text string
	var list []string
	if json.Unmarshal(raw, &text) != nil {
		known := false
		if json.Unmarshal(raw, &list) == nil {
			text, known = strings.Join(list, ","), true
		} else if k.text != nil {
			text, known = k.text(raw)
		}
		if !known {
			text = compact(raw)
		}
	}
	switch {
	case text == "":
		return notGiven
	case strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl):
		return strconv.Quote(text)
	}
	return text
}
