package tables

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// TestTableOptionsHaveFields: each option in a manifest has a field, whose flag has the option's name.
func TestTableOptionsHaveFields(t *testing.T) {
	csv, jsonl := TableOptions{Format: TableCSV, CSVOptions: CSVOptions{Drop: []string{"a"}}}, TableOptions{Format: TableJSONL}
	for kind, all := range map[string][]map[string]any{
		"csv":   {csv.effective(&tableSource{kind: "csv"})},
		"table": {csv.effective(&tableSource{kind: "table"}), jsonl.effective(&tableSource{kind: "table"})},
	} {
		for _, options := range all {
			for key := range options {
				if slices.Contains([]string{"source", plan.OptionAuto, plan.OptionGiven}, key) {
					continue // never named in a difference
				}
				field, want := plan.Kinds[kind].FieldOf(key), "--"+strings.ReplaceAll(key, "_", "-")
				if field.Word != want {
					t.Errorf("%s: %s is %q, which is %q on the command line", kind, key, field.Go, field.Word)
				}
			}
		}
	}
}
