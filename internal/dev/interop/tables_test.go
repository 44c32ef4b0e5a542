//go:build interop

package interop

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/arrow"
	"github.com/tfrec/tfrec/internal/table/npy"
	"github.com/tfrec/tfrec/internal/table/parquet"
)

// judgedColumn is a column as pyarrow or numpy reads it. A row is null, "bad" or a list.
type judgedColumn struct {
	Name string            `json:"name"`
	Kind string            `json:"kind"`
	Rows []json.RawMessage `json:"rows"`
}

// openTable opens a file in the format of a request.
func openTable(ctx context.Context, format, path string) (table.Source, error) {
	at := storage.Parse(path)
	switch format {
	case "parquet":
		return parquet.Open(ctx, at)
	case "npz", "npy":
		return npy.Open(ctx, at)
	}
	return arrow.Open(ctx, at)
}

// TestTables compares tables of random schemas, values and encodings with what wrote them: whole,
// and in other chunks and with other columns than those of the scan. TFREC_TABLE_SEEDS says how
// many of each format.
func TestTables(t *testing.T) {
	ask := startScript(t, *python, "tables.py")
	seeds := 40
	if n, err := strconv.Atoi(os.Getenv("TFREC_TABLE_SEEDS")); err == nil {
		seeds = n
	}
	dir, unreadable := t.TempDir(), 0
	for _, format := range []string{"parquet", "file", "stream", "feather", "npz", "npy"} {
		for seed := range seeds {
			name := fmt.Sprintf("%s/%d", format, seed)
			path := filepath.Join(dir, "t."+format)
			rows := []int{0, 1, 10, 300, 2000}[seed%5]
			var answer struct {
				Unreadable string         `json:"unreadable"`
				Options    string         `json:"options"`
				Columns    []judgedColumn `json:"columns"`
			}
			ask(t, map[string]any{"path": path, "format": format, "seed": seed, "rows": rows}, &answer)
			if answer.Unreadable != "" {
				unreadable++
				continue
			}
			if err := compareTable(t.Context(), format, path, int64(rows), uint64(seed), answer.Columns); err != nil {
				t.Errorf("%s: %v\n%s", name, err, answer.Options)
			}
		}
	}
	if unreadable > 1+seeds/20 {
		t.Errorf("pyarrow could not read %d of its own tables", unreadable)
	}
}

func compareTable(ctx context.Context, format, path string, rows int64, seed uint64, want []judgedColumn) error {
	src, err := openTable(ctx, format, path)
	if err != nil {
		return err
	}
	defer src.Close()
	tab, err := src.Scan(ctx, table.ScanOptions{Workers: 2})
	if err != nil {
		return err
	}
	if tab.Rows != rows || len(tab.Columns) != len(want) {
		return fmt.Errorf("%d rows with columns %v, want %d with %d", tab.Rows, tab.Columns, rows, len(want))
	}
	byName := map[string]judgedColumn{}
	for _, w := range want {
		byName[w.Name] = w
	}
	for _, c := range tab.Columns {
		if err := checkColumn(c, byName[c.Name]); err != nil {
			return fmt.Errorf("column %+v: %w", c, err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	chunks := append([]table.Chunk(nil), tab.Chunks...)
	next := int64(0)
	for _, c := range tab.Chunks {
		if c.FirstRow != next {
			return fmt.Errorf("a chunk begins with row %d, not %d", c.FirstRow, next)
		}
		next += c.Rows
		first := r.Int64N(c.Rows)
		chunks = append(chunks, table.Chunk{FirstRow: c.FirstRow + first, Rows: 1 + r.Int64N(c.Rows-first)})
	}
	if next != rows {
		return fmt.Errorf("the chunks have %d rows of %d", next, rows)
	}
	if !src.InOrder() {
		r.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
	}
	var b table.Batch
	for i, c := range chunks {
		columns := tab.Columns
		if i%2 == 1 {
			columns = []table.Column{columns[r.IntN(len(columns))], columns[r.IntN(len(columns))]}
		}
		if err := src.Read(ctx, c, columns, &b); err != nil {
			return err
		}
		bad := map[int]bool{}
		for _, row := range b.Bad {
			bad[row.Row] = true
		}
		for j, column := range columns {
			for row := range b.Rows {
				got, want := writtenRow(&b.Columns[j], row), string(byName[column.Name].Rows[int(c.FirstRow)+row])
				if want == `"bad"` && bad[row] {
					want = "null"
				}
				if got != strings.ReplaceAll(want, " ", "") {
					return fmt.Errorf("rows %d to %d: column %q: row %d is %s, want %s", c.FirstRow, c.FirstRow+c.Rows, column.Name, int(c.FirstRow)+row, got, want)
				}
			}
		}
	}
	return nil
}

// checkColumn compares what a scan says of a column with its rows.
func checkColumn(c table.Column, want judgedColumn) error {
	var missing int64
	lengths := map[int]bool{}
	for _, r := range want.Rows {
		var list []string
		if string(r) == "null" || string(r) == `"bad"` {
			missing++
			continue
		}
		if err := json.Unmarshal(r, &list); err != nil {
			return err
		}
		lengths[len(list)] = true
	}
	if c.Kind.String() != want.Kind || c.Missing != missing {
		return fmt.Errorf("want %s, %d missing", want.Kind, missing)
	}
	if len(lengths) == 1 && !lengths[c.Length] || len(lengths) > 1 && c.Length != 0 {
		return fmt.Errorf("the lengths are %v", lengths)
	}
	return nil
}

// writtenRow returns a row in the written form.
func writtenRow(v *table.Values, row int) string {
	if !v.Has(row) {
		return "null"
	}
	values := []string{}
	first, end := v.Span(row)
	for i := first; i < end; i++ {
		switch v.Kind {
		case table.Int64:
			values = append(values, strconv.FormatInt(v.Ints[i], 10))
		case table.Float:
			values = append(values, fmt.Sprintf("%08x", math.Float32bits(v.Floats[i])))
		case table.Bytes:
			values = append(values, hex.EncodeToString(v.Byte(i)))
		}
	}
	text, _ := json.Marshal(values)
	return string(text)
}
