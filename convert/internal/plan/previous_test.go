package plan

import (
	"encoding/json"
	"testing"
)

// TestOptionsInErrors: options are formatted as on a command line.
func TestOptionsInErrors(t *testing.T) {
	kind := Kinds["csv"]
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "not given"},
		{"", "not given"},
		{[]string{}, "not given"},
		{"png", "png"},
		{"\t", `"\t"`},
		{7, "7"},
		{1 << 62, "4611686018427387904"},
		{0.25, "0.25"},
		{false, "false"},
		{[]string{"a=int64", "b=float"}, "a=int64,b=float"},
		{[]map[string]any{{"Name": "v", "Columns": []string{"a", "b"}}, {"Name": "w", "Columns": []string{"c..f"}}}, "v=a,b w=c..f"},
		{map[string]int{"train": 3}, `{"train":3}`},
	} {
		raw, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := kind.optionText(raw); got != test.want {
			t.Errorf("%s: %s, want %s", raw, got, test.want)
		}
	}
	if got := kind.optionText(nil); got != "not given" {
		t.Errorf("an absent option: %s", got)
	}
}
