package tables

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
)

// A table that had just changed when it was scanned, and whose time reveals a change when the scan
// ends, is not scanned by the next run if this one has read all of it again.
func TestFreshTablesAreScannedOnce(t *testing.T) {
	long := strings.Repeat("yy", 60)
	text := "a,b\n" + strings.Repeat("1,x\n2,"+long+"\n", 12_000) // two chunks
	other := strings.ReplaceAll(text, "yy", "zz")
	lines := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(text, "a,b\n"), "1,x", `{"a":1}`), "2,"+long, `{"b":"`+long+`"}`)
	}
	zipped := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.String()
	}
	for name, c := range map[string]struct {
		file, text string
		o          TableOptions
		again      bool // the next run scans it, too
		ended      time.Duration
	}{
		"CSV":                     {file: "t.csv", text: text, ended: 2 * time.Second},
		"CSV, shuffled":           {file: "t.csv", text: text, ended: 2 * time.Second, o: TableOptions{CSVOptions: CSVOptions{Shuffle: true}}},
		"gzip":                    {file: "t.csv.gz", text: zipped(text), ended: 2 * time.Second},
		"JSON lines":              {file: "t.jsonl", text: lines(text), ended: 2 * time.Second},
		"a scan that ends early":  {file: "t.csv", text: text, ended: 600 * time.Millisecond, again: true},
		"a task, of half of rows": {file: "t.csv", text: text, ended: 2 * time.Second, o: TableOptions{CSVOptions: CSVOptions{Options: plan.Options{Task: &plan.Task{Index: 0, Count: 2}}}}, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			changed := time.Now().Add(-time.Hour).Truncate(time.Second)
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, changed, changed); err != nil {
					t.Fatal(err)
				}
			}
			write(c.text)
			out := filepath.Join(t.TempDir(), "out")
			c.o.Name, c.o.Shards, c.o.TrustTimes = "t", 2, true
			in := New([]string{path}, c.o, noSplits)
			ages := []time.Duration{500 * time.Millisecond, c.ended}
			in.now = func() time.Time {
				age := ages[0]
				ages = ages[min(1, len(ages)-1):]
				return changed.Add(age)
			}
			if _, err := plan.Run(t.Context(), in, out); err != nil {
				t.Fatal(err)
			}
			_, err := os.Stat(filepath.Join(out, ".tfrec", tablefile.ScanFile))
			if saved := err == nil; saved == c.again {
				t.Fatalf("the scan is saved: %v, want %v", saved, !c.again)
			}
			if c.again || c.file != "t.csv" {
				return
			}
			write(other) // with the time and size of the old, so it is not read
			if s, err := Table(t.Context(), []string{path}, out, c.o, noSplits); err != nil || s.Status != plan.UpToDate {
				t.Errorf("%+v, %v", s, err)
			}
			changed = changed.Add(time.Second)
			write(other)
			if s, err := Table(t.Context(), []string{path}, out, c.o, noSplits); err != nil || s.Status != plan.Updated {
				t.Errorf("changed: %+v, %v", s, err)
			}
		})
	}
}

// noSplits is a SplitsOf for files whose names state none.
func noSplits([]string) ([]string, error) { return nil, nil }
