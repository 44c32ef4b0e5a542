package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/storage"
)

// A set of tables in a store equals that of the same tables on disk; the tables are read in large
// requests, and read again only if their version changes.
func TestTablesOfAStore(t *testing.T) {
	src := filepath.Join(t.TempDir(), "tables")
	var plain, packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 50_000 { // some 1.5 MB, which are two chunks
		if i == 0 {
			fmt.Fprintln(&plain, "number,name,value")
			fmt.Fprintln(z, "number,name,value")
		}
		fmt.Fprintf(&plain, "%d,name of row %d,%d.5\n", i, i*7, i%11)
		fmt.Fprintf(z, "%d,zipped row %d,%d.25\n", i, i*7, i%13)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, src, "a.csv", plain.Bytes())
	put(t, src, "b.csv.gz", packed.Bytes())
	for name, o := range map[string]CSVOptions{
		"in order": {Options: Options{Shards: 2, Workers: 2}},
		"shuffled": {Options: Options{Shards: 2, Workers: 2}, Shuffle: true},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := t.TempDir(), t.TempDir()
			o.Name = "tables"
			if _, err := CSV(t.Context(), []string{filepath.Join(src, "*")}, here, o); err != nil {
				t.Fatal(err)
			}
			s, url := inStore(t, src)
			c := new(counting).of(s)
			if _, err := CSV(t.Context(), []string{url + "/*"}, there, o); err != nil {
				t.Fatal(err)
			}
			sameSet(t, contents(t, there), contents(t, here))
			if c.kinds["open"] > 20 {
				t.Errorf("%v requests for two tables of 1.5 MB", c.kinds)
			}
			elsewhere := moved(t, there)
			c = new(counting).of(s)
			again, err := CSV(t.Context(), []string{url + "/*"}, elsewhere, o)
			if err != nil || again.Status != UpToDate || c.kinds["open"] > 6 {
				t.Errorf("again: %v after %v, %v", again, c.kinds, err)
			}
		})
	}
}

// A table replaced between its two reads ends the run.
func TestReplacedTable(t *testing.T) {
	src := filepath.Join(t.TempDir(), "tables")
	put(t, src, "a.csv", []byte("x,y\n1,2\n3,4\n"))
	s, url := inStore(t, src)
	name := s.Names()[0]
	opens := 0
	s.Fault = func(kind, _ string) error {
		if kind == "open" {
			if opens++; opens == 4 {
				s.Put(name, []byte("x,y\n1,2\n3,5\n"))
			}
		}
		return nil
	}
	_, err := CSV(context.Background(), []string{url + "/a.csv"}, t.TempDir(), CSVOptions{Options: Options{Workers: 1}})
	if !errors.Is(err, storage.ErrChanged) || !strings.Contains(err.Error(), url+"/a.csv") {
		t.Errorf("after %d requests: %v", opens, err)
	}
}
