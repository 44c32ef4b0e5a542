package setdir

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/jsontext"
)

// Manifests and the states of runs record the effective options by the names of their flags. A run
// that finds a set compares them with its own, and names the first that differs.

// NotGiven is the text of an option without a value.
const NotGiven = "not given"

// CompactOption returns a recorded value as JSON in a canonical form.
func CompactOption(value json.RawMessage) string {
	if text, ok := jsontext.Compact(value); ok {
		return text
	}
	return NotGiven
}

// OptionText returns a recorded value as on a command line. The function special, unless nil, formats
// values that are neither texts nor lists of texts, and reports whether it knows them.
func OptionText(value json.RawMessage, special func(json.RawMessage) (string, bool)) string {
	var text string
	var list []string
	if json.Unmarshal(value, &text) != nil {
		known := false
		if json.Unmarshal(value, &list) == nil {
			text, known = strings.Join(list, ","), true
		} else if special != nil {
			text, known = special(value)
		}
		if !known {
			text = CompactOption(value)
		}
	}
	switch {
	case text == "":
		return NotGiven
	case strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl):
		return strconv.Quote(text)
	}
	return text
}

// ChangedOption returns the key of the first option, in their order, that has another value now; ""
// if there is none. Options for which same, unless nil, returns true count as equal.
func ChangedOption(was, now map[string]json.RawMessage, same func(key string) bool) string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now))
	slices.Sort(keys)
	for _, key := range keys {
		if CompactOption(was[key]) != CompactOption(now[key]) && (same == nil || !same(key)) {
			return key
		}
	}
	return ""
}

// Difference describes another value of something, such as an option.
func Difference(of, was, now string) string {
	return fmt.Sprintf("%s was %s, now it is %s", of, was, now)
}

// MadeOtherwise returns the error for a directory with a set that this run would not make. replace
// names the option that permits to replace the set; it is empty if none does.
func MadeOtherwise(path, difference, replace string) error {
	or := "or another directory"
	if replace != "" {
		or = "another directory, or " + replace
	}
	return fmt.Errorf("%s holds a set made from other inputs or options: %s; give the same, %s", path, difference, or)
}
