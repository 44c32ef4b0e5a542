package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Restored returns the flag that gives what is recorded of a set, and its values; no values if none is
// needed.
func (o *Option) Restored(recorded map[string]json.RawMessage) (flag string, values []string, err error) {
	flag = o.Flag
	if o.RestoredBy != "" {
		flag = o.RestoredBy
	}
	raw := recorded[o.RecordedKey()]
	if o.Restore == nil || raw == nil || string(raw) == "null" {
		values, err = Values(raw)
	} else {
		values, err = o.Restore(recorded)
	}
	return flag, values, err
}

// Values returns a JSON value as flags take it; none for null, an empty text, list or object, and 0: not
// given, or the default.
func Values(raw json.RawMessage) ([]string, error) {
	if raw == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a seed has more digits than a float64
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if v == "" {
			return nil, nil
		}
		return []string{v}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	case json.Number:
		if v == "0" {
			return nil, nil
		}
		return []string{v.String()}, nil
	case []any:
		var values []string
		for _, item := range v {
			values = append(values, fmt.Sprint(item))
		}
		return values, nil
	case map[string]any:
		var pairs []string
		for k, item := range v {
			pairs = append(pairs, fmt.Sprintf("%s=%v", k, item))
		}
		if len(pairs) == 0 {
			return nil, nil
		}
		slices.Sort(pairs)
		return []string{strings.Join(pairs, ",")}, nil
	}
	return nil, fmt.Errorf("%T has no form as a flag", v)
}

// Nothing is a Restore for options that only the caller can give again.
func Nothing(map[string]json.RawMessage) ([]string, error) { return nil, nil }

// From returns an Input for sets that have the option with the given key.
func From(key, clause string) func(recorded map[string]json.RawMessage) string {
	return func(recorded map[string]json.RawMessage) string {
		if recorded[key] == nil {
			return ""
		}
		return clause
	}
}
