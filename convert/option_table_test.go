package convert

import (
	"reflect"
	"testing"

	"github.com/tfrec/tfrec/internal/option"
)

// withoutRow are the fields of options that are in no table.
var withoutRow = map[string]string{
	"Options.SplitShards":         "set by the row of Options.Shards",
	"Options.ShardsLike":          "set by --from-manifest",
	"Options.Task":                "set by --task and --tasks",
	"Options.AlsoReads":           "the files that flags name",
	"Options.Args":                "the arguments of the command",
	"Options.Progress":            "for programs",
	"Options.Note":                "for programs",
	"ImageOptions.Backend":        "set by --gpu",
	"ImageOptions.BackendDecodes": "set by --gpu-decode",
	"CSVOptions.Vocabulary":       "set by --vocab=FILE",
}

// TestOptionsAreInTables: each exported field of options, and of structs within them, is in a row of the
// table, or in withoutRow.
func TestOptionsAreInTables(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range []interface{ Table() option.Table }{new(ImageOptions), new(CSVOptions), new(TableOptions)} {
		table := o.Table()
		flags, keys := map[string]bool{}, map[string]bool{}
		for i := range table {
			row := &table[i]
			switch {
			case row.Field() == "":
				t.Errorf("%T: --%s sets no field", o, row.Flag)
			case row.Help == "":
				t.Errorf("%T: --%s has no help", o, row.Flag)
			case flags[row.Flag], keys[row.RecordedKey()]:
				t.Errorf("%T: --%s or its key %s is given twice", o, row.Flag, row.RecordedKey())
			}
			flags[row.Flag], keys[row.RecordedKey()], seen[row.Field()] = true, true, true
		}
		findRows(t, seen, reflect.TypeOf(o).Elem())
	}
	for name := range withoutRow {
		if !seen[name] {
			t.Errorf("withoutRow has %s, which is not an option", name)
		}
	}
}

// findRows checks the fields of a struct, and adds those in withoutRow to the ones with rows.
func findRows(t *testing.T, seen map[string]bool, s reflect.Type) {
	t.Helper()
	for i := range s.NumField() {
		field := s.Field(i)
		name := s.Name() + "." + field.Name
		switch _, exempt := withoutRow[name]; {
		case exempt:
			seen[name] = true
		case seen[name]:
		case field.Type.Kind() == reflect.Struct:
			findRows(t, seen, field.Type)
		default:
			t.Errorf("%s is in no table: add a row, or a reason to withoutRow", name)
		}
	}
}
