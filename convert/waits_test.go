package convert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
)

// TestRowsPassNothingOneByOne: many workers wait for locks and channels for a few chunks of rows at
// a time, not for each row.
func TestRowsPassNothingOneByOne(t *testing.T) {
	race.Skip(t)
	const rows, procs = 200_000, 8
	var text bytes.Buffer
	text.WriteString("n,text,class\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,some text,%d\n", i, i%10)
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "t.csv")
	settest.Check(t, os.WriteFile(src, text.Bytes(), 0o666))
	for name, o := range map[string]CSVOptions{"in order": {}, "shuffled": {Shuffle: true}} {
		o.Shards, o.Workers = 8, procs
		waits := settest.Waits(t, procs, func() {
			_, err := CSV(t.Context(), []string{src}, filepath.Join(dir, name), o)
			settest.Check(t, err)
		})
		t.Logf("%s: %d waits", name, waits)
		if waits > rows/20 {
			t.Errorf("%d rows %s wait %d times", rows, name, waits)
		}
	}
}
