package plan

import (
	"encoding/json"
	"testing"

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/optname"
)

// TestOptionsInErrors: options are formatted as on a command line.
func TestOptionsInErrors(t *testing.T) {
	r := target{table: option.Table{{
		Flag: "repeated", Many: option.Repeated,
		Restore: func(map[string]json.RawMessage) ([]string, error) { return []string{"v=a,b", "w=c..f"}, nil },
	}}}
	for _, test := range []struct {
		key   string
		value any
		want  string
	}{
		{"one", nil, "not given"},
		{"one", "", "not given"},
		{"one", []string{}, "not given"},
		{"one", "png", "png"},
		{"one", "\t", `"\t"`},
		{"one", 7, "7"},
		{"one", 1 << 62, "4611686018427387904"},
		{"one", 0.25, "0.25"},
		{"one", false, "false"},
		{"repeated", []string{"a=int64", "b=float"}, "a=int64,b=float"},
		{"repeated", []map[string]any{{"Name": "v"}, {"Name": "w"}}, "v=a,b w=c..f"},
		{"one", map[string]int{"train": 3}, `{"train":3}`},
	} {
		raw, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.optionText(test.key, map[string]json.RawMessage{test.key: raw}); got != test.want {
			t.Errorf("%s: %s, want %s", raw, got, test.want)
		}
	}
	if got := r.optionText("absent", nil); got != "not given" {
		t.Errorf("an absent option: %s", got)
	}
	if got := r.optionName("of_another_version"); got != optname.Name("of_another_version") {
		t.Errorf("an unknown option is called %s", got)
	}
}
