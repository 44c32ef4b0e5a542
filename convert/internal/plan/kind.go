package plan

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/optname"
)

// kind describes a kind of input when there is no input: how messages show the options of a set.
type kind struct {
	// structs are those whose fields set the effective options, besides Options. A manifest names an
	// option by its flag.
	structs []string
	// text formats the value of an option that is neither a string nor a list of strings for
	// people, and reports whether it knows it. It may be nil.
	text func(raw json.RawMessage) (string, bool)
}

// Kinds maps the option "source" of a manifest to its kind.
var Kinds = map[string]kind{
	"images": {structs: []string{"ImageOptions", "SelectSpec", "LabelSpec", "AnnotationSpec", "EncodeSpec", "Normalize", "ResizeSpec", "AugmentSpec", "CodecOptions"}},
	"csv":    {structs: []string{"CSVOptions"}, text: vectorsText},
	"table":  {structs: []string{"CSVOptions", "TableOptions"}, text: vectorsText},
}

// optionLabels is the option with the source of labels: directories, a table, or none.
const optionLabels = "labels"

// kind returns the run's kind of input.
func (r *target) kind() kind {
	var name string
	_ = json.Unmarshal(r.options["source"], &name) // of another version: an unknown kind
	return Kinds[name]
}

// FieldOf returns what sets an option. An unknown key, such as one from another kind or version, is
// its own name.
func (k kind) FieldOf(key string) optname.Name {
	if key == optionLabels {
		return optname.LabelSpecFile
	}
	for _, n := range optname.All() {
		of, _, _ := strings.Cut(n.Go, ".")
		if n.Key() == key && (of == "Options" || slices.Contains(k.structs, of)) {
			return n
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

// OptionAntialias is the option of sets of resized images.
const OptionAntialias = "antialias"

// vectorsText formats vectors for ParseVector, if the option value is one.
func vectorsText(raw json.RawMessage) (string, bool) {
	var vectors []struct {
		Name    string
		Columns []string
	}
	if json.Unmarshal(raw, &vectors) != nil {
		return "", false
	}
	var list []string
	for _, v := range vectors {
		list = append(list, v.Name+"="+strings.Join(v.Columns, ","))
	}
	return strings.Join(list, " "), true
}
