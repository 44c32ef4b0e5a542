package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Restored returns the flag and the values that give a set the recorded value of the option; no values
// if the default does.
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

// Values returns a JSON value as flags take it. Null, 0 and empty strings, lists and objects have no
// values: they are the default.
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

// Nothing is a Restore for options whose values are not in manifests.
func Nothing(map[string]json.RawMessage) ([]string, error) { return nil, nil }

// From returns an Input with a clause for all sets whose manifest has the key.
func From(key, clause string) func(recorded map[string]json.RawMessage) string {
	return func(recorded map[string]json.RawMessage) string {
		if recorded[key] == nil {
			return ""
		}
		return clause
	}
}
