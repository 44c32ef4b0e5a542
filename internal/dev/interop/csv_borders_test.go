//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// pythonsRows prints the rows of a table as Python's csv module reads them, as JSON.
const pythonsRows = `
import csv, json, sys
csv.field_size_limit(1 << 30)
with open(sys.argv[1], newline="", encoding="utf-8") as f:
    rows = csv.reader(f, delimiter=sys.argv[2], strict=True)
    next(rows)
    for row in rows:
        sys.stdout.write(json.dumps(row) + "\n")
`

// TestTablesAtChunkBorders puts odd rows where a scanner that reads in chunks changes
// from one to the next, at every byte of the row, and wants the cells that Python reads.
func TestTablesAtChunkBorders(t *testing.T) {
	const most = 30 // chunks of a table
	rnd := rand.New(rand.NewPCG(3, 14))
	for name, c := range map[string]struct{ delimiter, end string }{"commas": {",", "\n"}, "tabs and CRLF": {"\t", "\r\n"}} {
		t.Run(name, func(t *testing.T) {
			d := c.delimiter
			odd := []string{
				`"a""b"` + d + `"x` + c.end + `y"` + d + `z`,
				`"` + d + d + `"` + d + `""""` + d + `"` + c.end + c.end + `"`,
				`ä€𝄞` + d + `"𝄞"` + d + `ü`,
				`"` + strings.Repeat(`""`, 40) + `"` + d + `q` + d + `"\r"`,
				`"line 1` + "\n" + `line 2` + "\r" + `line 3` + "\r\n" + `"` + d + `'` + d + `a b`,
			}
			var table bytes.Buffer
			table.WriteString("one" + d + "two" + d + "three" + c.end)
			for k := 1; k <= most; k++ {
				row := odd[k%len(odd)] + c.end
				begin := k*csvscan.ChunkSize - rnd.IntN(len(row)+1)
				for table.Len() < begin-200 {
					fmt.Fprintf(&table, "%d%s%x%s%s%s", table.Len(), d, rnd.Uint64(), d, strings.Repeat("f", rnd.IntN(90)+1), c.end)
				}
				if left := begin - table.Len() - len("p"+d+"p"+d+c.end); left > 0 { // to the byte
					table.WriteString("p" + d + "p" + d + strings.Repeat("p", left) + c.end)
				}
				table.WriteString(row)
			}
			path := filepath.Join(t.TempDir(), "borders.csv")
			if err := os.WriteFile(path, table.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			if said, err := exec.Command(*binary, "convert", "csv", path, out, "--quiet", "--delimiter", strings.ReplaceAll(d, "\t", `\t`), "--column", "one=bytes", "--column", "two=bytes",
				"--column", "three=bytes", "--na-values", "never", "--workers", "3", "--shards", "3").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			judge := exec.Command(*python, "-c", pythonsRows, path, d)
			judge.Stderr = os.Stderr
			said, err := judge.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := judge.Start(); err != nil {
				t.Fatal(err)
			}
			rows := bufio.NewScanner(said)
			rows.Buffer(nil, 1<<24)
			n := 0
			for got := range cells(t, out, "one", "two", "three") {
				var want []string
				if !rows.Scan() {
					t.Fatalf("Python reads %d rows", n)
				}
				if err := json.Unmarshal(rows.Bytes(), &want); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("row %d: %.200q, Python reads %.200q", n, got, want)
				}
				n++
			}
			if rows.Scan() {
				t.Errorf("Python reads more than %d rows", n)
			}
			if err := judge.Wait(); err != nil {
				t.Error(err)
			}
			t.Logf("%d rows in %d bytes", n, table.Len())
		})
	}
}

// cells yields the values of features of one value of bytes, record by record.
func cells(t *testing.T, dir string, keys ...string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		shards, err := filepath.Glob(filepath.Join(dir, "*.tfrecord-*"))
		if err != nil || len(shards) == 0 {
			t.Fatal(shards, err)
		}
		var e tfrecord.Example
		for _, shard := range shards {
			f, err := os.Open(shard)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for record, err := range tfrecord.NewReader(f, tfrecord.ReaderOptions{}).All() {
				if err == nil {
					err = e.Parse(record)
				}
				if err != nil {
					t.Fatal(err)
				}
				var row []string
				for _, key := range keys {
					feature, _ := e.Get(key)
					value, ok := feature.Bytes()
					if !ok {
						t.Fatalf("%s: a record without %s", shard, key)
					}
					row = append(row, string(value))
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}
