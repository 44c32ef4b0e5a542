package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// A set of tables in a store equals that of the same tables on disk; the tables are read in large
// requests, and read again only if their version changes.
func TestTablesOfAStore(t *testing.T) {
	for format, text := range map[TableFormat]struct{ header, row string }{
		TableCSV:   {"number,name,value\n", "%d,name of row %0100d,%d.5\n"},
		TableJSONL: {"", `{"number":%d,"name":"name of row %0100d","value":%d.5}` + "\n"},
	} {
		var plain, packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		both := io.MultiWriter(&plain, z)
		fmt.Fprint(both, text.header)
		for i := range 12_000 { // some 1.5 MB, which are two chunks
			fmt.Fprintf(both, text.row, i, i*7, i%11)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		src := filepath.Join(t.TempDir(), "tables")
		put(t, src, "a.table", plain.Bytes())
		put(t, src, "b.table.gz", packed.Bytes())
		for _, shuffle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, shuffle %v", format, shuffle), func(t *testing.T) {
				o := TableOptions{CSVOptions: CSVOptions{Options: Options{Name: "tables", Shards: 2, Workers: 2}, Shuffle: shuffle}}
				here, there := t.TempDir(), t.TempDir()
				mustTable(t, []string{filepath.Join(src, "*")}, here, o)
				s, url := inStore(t, src)
				c := new(counting).of(s)
				mustTable(t, []string{url + "/*"}, there, o)
				sameSet(t, contents(t, there), contents(t, here))
				if c.kinds["open"] > 24 {
					t.Errorf("%v requests for two tables of 1.5 MB", c.kinds)
				}
				elsewhere := moved(t, there)
				c = new(counting).of(s)
				again := mustTable(t, []string{url + "/*"}, elsewhere, o)
				if again.Status != UpToDate || c.kinds["open"] > 10 {
					t.Errorf("again: %v after %v", again, c.kinds)
				}
			})
		}
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
