// Package tabletest tests that the formats of tables follow the contract of package table.
package tabletest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// Open opens a table of a format.
type Open func(context.Context, storage.Location) (table.Source, error)

// As makes an Open of the function of a format.
func As[S table.Source](open func(context.Context, storage.Location) (S, error)) Open {
	return func(ctx context.Context, at storage.Location) (table.Source, error) {
		s, err := open(ctx, at)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// Write writes a file and returns where it is.
func Write(t testing.TB, name string, data []byte) storage.Location {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return storage.Parse(path)
}

// Text returns the rows of a batch as text, such as "id=1 xs=[1 2.5]". Missing values are left out,
// long ones are their length and hash, and a bad row ends with its reason.
func Text(b *table.Batch, columns []table.Column) []string {
	rows := make([]string, b.Rows)
	for row := range rows {
		var cells []string
		for i, c := range columns {
			v := &b.Columns[i]
			if !v.Has(row) {
				continue
			}
			var values []string
			first, end := v.Span(row)
			for j := first; j < end && v.Kind != table.Unknown; j++ {
				switch {
				case v.Kind != table.Bytes:
					values = append(values, v.Text(j))
				case len(v.Byte(j)) > 1<<10:
					values = append(values, fmt.Sprintf("%d bytes %x", len(v.Byte(j)), xxh3.Hash(v.Byte(j))))
				default:
					values = append(values, fmt.Sprintf("%q", v.Byte(j)))
				}
			}
			text := strings.Join(values, " ")
			if c.List {
				text = "[" + text + "]"
			}
			cells = append(cells, c.Name+"="+text)
		}
		rows[row] = strings.Join(cells, " ")
	}
	for _, bad := range b.Bad {
		rows[bad.Row] += " bad: " + bad.Reason
	}
	return rows
}

// Rows scans a table and returns its columns and rows, which must be the same in other chunks, in any
// order and for any number of workers.
func Rows(t testing.TB, open Open, at storage.Location, o table.ScanOptions) (*table.Table, []string) {
	t.Helper()
	src, err := open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	o.Workers = 1
	tab, err := src.Scan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Workers = 3
	if again, err := src.Scan(t.Context(), o); err != nil || !reflect.DeepEqual(tab, again) {
		t.Fatalf("with 3 workers: %v\n%+v\n%+v", err, again, tab)
	}
	var rows []string
	var b table.Batch
	for _, c := range tab.Chunks {
		if c.FirstRow != int64(len(rows)) {
			t.Fatalf("chunk %d begins with row %d, after %d", c.Index, c.FirstRow, len(rows))
		}
		if err := src.Read(t.Context(), c, tab.Columns, &b); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, Text(&b, tab.Columns)...)
	}
	if int64(len(rows)) != tab.Rows {
		t.Fatalf("%d rows of %d", len(rows), tab.Rows)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 * min(1, len(tab.Chunks)) {
		c := tab.Chunks[r.IntN(len(tab.Chunks))]
		first := r.Int64N(c.Rows)
		c = table.Chunk{FirstRow: c.FirstRow + first, Rows: 1 + r.Int64N(c.Rows-first)}
		if err := src.Read(t.Context(), c, tab.Columns, &b); err != nil {
			t.Fatal(err)
		}
		if got, want := Text(&b, tab.Columns), rows[c.FirstRow:c.FirstRow+c.Rows]; !slices.Equal(got, want) {
			t.Fatalf("rows %d to %d read alone:\n%s\nwant:\n%s", c.FirstRow, c.FirstRow+c.Rows, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	return tab, rows
}

// ReadAll opens, scans and reads a table, whatever it holds, and returns the first error.
func ReadAll(ctx context.Context, open Open, at storage.Location) error {
	src, err := open(ctx, at)
	if err != nil {
		return err
	}
	defer src.Close()
	tab, err := src.Scan(ctx, table.ScanOptions{Workers: 1})
	if err != nil {
		return err
	}
	var b table.Batch
	for _, c := range tab.Chunks {
		if err := src.Read(ctx, c, tab.Columns, &b); err != nil {
			return err
		}
		Text(&b, tab.Columns)
	}
	return nil
}

// Damaged truncates a table at every byte, which must be an error that names the file, and changes
// every byte, which must not panic.
func Damaged(t *testing.T, open Open, data []byte) {
	path := filepath.Join(t.TempDir(), "damaged")
	try := func(data []byte) error {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		err := ReadAll(t.Context(), open, storage.Parse(path))
		if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("the error does not begin with the file: %v", err)
		}
		return err
	}
	if err := try(data); err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if try(data[:n]) == nil {
			t.Errorf("%d bytes of %d are read without an error", n, len(data))
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range data {
		changed := append([]byte(nil), data...)
		changed[i] ^= byte(1 + r.IntN(255))
		try(changed)
	}
}

// Fuzz fuzzes a format with files of the given contents.
func Fuzz(f *testing.F, open Open, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	path := filepath.Join(f.TempDir(), "fuzz")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := ReadAll(t.Context(), open, storage.Parse(path)); err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("the error does not begin with the file: %v", err)
		}
	})
}

// Benchmark times reading all chunks of a table, after its scan.
func Benchmark(b *testing.B, open Open, data []byte) {
	src, err := open(b.Context(), Write(b, "bench", data))
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	tab, err := src.Scan(b.Context(), table.ScanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var batch table.Batch
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range tab.Chunks {
			if err := src.Read(b.Context(), c, tab.Columns, &batch); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(tab.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
