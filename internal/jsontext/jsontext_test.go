package jsontext

import (
	"encoding/json"
	"testing"
)

func TestCompact(t *testing.T) {
	for raw, want := range map[string]string{
		`{"b": [1, 2.50, 1e400], "a": "<x>&y"}`: `{"a":"<x>&y","b":[1,2.50,1e400]}`,
		`"\u003cx\u003e\u0026"`:                 `"<x>&"`,
		`"\\u0026"`:                             `"\\u0026"`,
		` null `:                                `null`,
		`12345678901234567890`:                  `12345678901234567890`,
	} {
		got, ok := Compact([]byte(raw))
		if !ok || got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, %v; want %s", raw, got, ok, want)
		}
	}
	for _, raw := range []string{"", "{", "1 2", "x"} {
		if got, ok := Compact([]byte(raw)); ok {
			t.Errorf("%q: %s", raw, got)
		}
	}
}
