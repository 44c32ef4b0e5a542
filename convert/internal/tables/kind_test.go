package tables

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
)

// TestTableOptionsHaveFields: each option in a manifest has a field, whose flag has the option's name.
func TestTableOptionsHaveFields(t *testing.T) {
	csv, jsonl := TableOptions{Format: tablefile.CSV, CSVOptions: CSVOptions{Drop: []string{"a"}}}, TableOptions{Format: tablefile.JSONL}
	for kind, all := range map[string][]map[string]any{
		"csv":   {csv.effective("csv", nil)},
		"table": {csv.effective("table", nil), jsonl.effective("table", nil)},
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
