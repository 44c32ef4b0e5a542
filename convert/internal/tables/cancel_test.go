package tables

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/dev/settest"
)

func TestCSVStopsWhenCancelled(t *testing.T) {
	src := filepath.Join(t.TempDir(), "t.csv")
	settest.PutFile(t, src, []byte("id,x\n"+strings.Repeat("1,2.5\n", 3000)))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CSV(cancelled, []string{src}, t.TempDir(), CSVOptions{}, noSplits); !errors.Is(err, context.Canceled) {
		t.Errorf("scanning: %v", err)
	}
	for name, csv := range map[string]CSVOptions{
		"limit": {Options: plan.Options{Limit: 5}}, "splits": {Options: plan.Options{Splits: []plan.SplitShare{{Name: "a", Share: .5}, {Name: "b", Share: .5}}}}, "shuffle": {Shuffle: true},
	} {
		o := TableOptions{CSVOptions: csv, Format: tablefile.CSV}
		tables, err := o.open(cancelled, []string{src})
		if err != nil {
			t.Fatal(err)
		}
		if err := tables.Scan(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		columns, err := o.resolve(tables)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := planTable(cancelled, &o, tables, columns, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("planning %s: %v", name, err)
		}
	}
}
