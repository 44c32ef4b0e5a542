package tables

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

func TestCSVStopsWhenCancelled(t *testing.T) {
	src := writeTable(t, "t.csv", "id,x\n"+strings.Repeat("1,2.5\n", 3000))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CSV(cancelled, []string{src}, t.TempDir(), CSVOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("scanning: %v", err)
	}
	for name, csv := range map[string]CSVOptions{
		"limit": {Options: plan.Options{Limit: 5}}, "splits": {Options: plan.Options{Splits: []plan.SplitShare{{Name: "a", Share: .5}, {Name: "b", Share: .5}}}}, "shuffle": {Shuffle: true},
	} {
		o := TableOptions{CSVOptions: csv, Format: TableCSV}
		tables, err := o.open(cancelled, []string{src})
		if err != nil {
			t.Fatal(err)
		}
		if err := tables.scan(t.Context(), &o, ""); err != nil {
			t.Fatal(err)
		}
		columns, err := o.resolve(tables)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := planTable(cancelled, &o, tables, columns, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("planning %s: %v", name, err)
		}
	}
}
