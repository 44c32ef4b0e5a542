package convert

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// kind is what is known of a kind of input where there is no input: how messages show the options of
// a set.
type kind struct {
	// fields are those that set the effective options, by their keys in the manifest; the options
	// that all kinds share are in sharedFields.
	fields map[string]string
	// text writes the value of an option that is neither a text nor a list of texts as a person
	// writes it, and reports whether it knows it. It may be nil.
	text func(raw json.RawMessage) (string, bool)
}

// kinds by the option "source" of a manifest.
var kinds = map[string]kind{"images": imageKind, "csv": csvKind}

// sharedFields are those of the options that all kinds have.
var sharedFields = map[string]string{
	optionSplits: "Options.Splits", optionShards: "Options.Shards", "even": "Options.Even",
	"compression": "Options.Compression", "limit": "Options.Limit", "seed": "Options.Seed",
}

// kind returns what is known of the run's kind of input.
func (r *run) kind() kind {
	var name string
	_ = json.Unmarshal(r.options["source"], &name) // of another version: none that is known
	return kinds[name]
}

// fieldOf returns the field that sets an option. A key that no field sets, as a set of another kind
// or version has, stands for itself.
func (k kind) fieldOf(key string) string {
	for _, fields := range []map[string]string{k.fields, sharedFields} {
		if field := fields[key]; field != "" {
			return field
		}
	}
	return key
}

// optionText writes the value of an option as a person writes it, on a command line for one.
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
