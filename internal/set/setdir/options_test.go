package setdir

import (
	"encoding/json"
	"testing"
)

func TestOptionText(t *testing.T) {
	special := func(value json.RawMessage) (string, bool) { return "special", string(value) == `{"a":1}` }
	for value, want := range map[string]string{
		``: "not given", `null`: "not given", `""`: "not given", `[]`: "not given",
		`"a b"`: "a b", `" a"`: `" a"`, `"a\nb"`: `"a\nb"`, `["a","b"]`: "a,b",
		`1.50`: "1.50", `true`: "true", `[1, 2]`: "[1,2]", `{"b": 2, "a": 1}`: `{"a":1,"b":2}`, `{"a":1}`: "special",
	} {
		if got := OptionText(json.RawMessage(value), special); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

func TestChangedOption(t *testing.T) {
	options := func(text string) (m map[string]json.RawMessage) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct{ was, now, want string }{
		{`{}`, `{}`, ""},
		{`{"a":1}`, `{"a": 1}`, ""},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"y":2, "x":1}}`, ""},
		{`{"a":1,"b":1}`, `{"a":1,"b":2}`, "b"},
		{`{"b":1,"a":1}`, `{"b":2,"a":2}`, "a"},
		{`{"a":1}`, `{}`, "a"},
		{`{}`, `{"a":1}`, "a"},
		{`{"ignored":1,"z":1}`, `{"ignored":2,"z":2}`, "z"},
		{`{"ignored":1}`, `{}`, ""},
	} {
		same := func(key string) bool { return key == "ignored" }
		if got := ChangedOption(options(c.was), options(c.now), same); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.was, c.now, got, c.want)
		}
	}
	if got := ChangedOption(options(`{"ignored":1}`), nil, nil); got != "ignored" {
		t.Errorf("without exceptions: %q", got)
	}
}

func TestMadeOtherwise(t *testing.T) {
	change := Difference("--seed", "1", "2")
	for replace, want := range map[string]string{
		"":            "out holds a set made from other inputs or options: --seed was 1, now it is 2; give the same, or another directory",
		"--overwrite": "out holds a set made from other inputs or options: --seed was 1, now it is 2; give the same, another directory, or --overwrite",
	} {
		if got := MadeOtherwise("out", change, replace).Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
