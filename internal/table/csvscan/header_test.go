package csvscan

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
)

// TestBlankLinesBeforeTheHeader puts any number of blank lines before a table: header,
// delimiter, rows and line numbers are found as without them, and soon.
func TestBlankLinesBeforeTheHeader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 1000, 600_000} {
		for _, bom := range []string{"", "\xef\xbb\xbf"} {
			var text strings.Builder
			text.WriteString(bom)
			for range n {
				text.WriteString([]string{"\n", "\r\n", "\r"}[rng.IntN(3)])
				if s := text.String(); strings.HasSuffix(s, "\r") {
					text.WriteString("\r\n\n") // no \r before a \n that is to be another line
				}
			}
			before := lineEnds([]byte(text.String()))
			text.WriteString("a;b\n1;2\n\n3\n")
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			began := cpuload.Used()
			src, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if took := cpuload.Used() - began; took > 20*time.Second { // once it was quadratic
				t.Errorf("%d blank lines took %v", n, took)
			}
			if !slices.Equal(src.Header(), []string{"a", "b"}) || src.Dialect().Delimiter != ';' {
				t.Errorf("%d blank lines: columns %q, delimiter %q", n, src.Header(), src.Dialect().Delimiter)
			}
			table, err := src.Scan(context.Background(), ScanOptions{})
			if err != nil || table.Rows != 2 || table.Bad != 1 {
				t.Fatalf("%d blank lines: %+v, %v", n, table, err)
			}
			data, err := src.ReadChunk(t.Context(), nil, table.Chunks[0])
			if err != nil {
				t.Fatal(err)
			}
			tok := NewTokenizer(src.Dialect(), 2)
			var located *Error
			for tok.Reset(data, table.Chunks[0].FirstLine); tok.Next(); {
				if tok.Bad() && (!errors.As(tok.Err(), &located) || located.Line != before+4) {
					t.Errorf("%d blank lines: %v, want line %d", n, tok.Err(), before+4)
				}
			}
		}
	}
}

func TestBlankLinesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, append(slices.Repeat([]byte("\n"), ChunkSize+1), "a,b\n1,2\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{MaxRow: ChunkSize}); !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), "CSVOptions.MaxRow") {
		t.Errorf("%v; want %v", err, ErrHeader)
	}
	if _, err := Open(t.Context(), path, Options{MaxRow: ChunkSize + 1}); err != nil {
		t.Error(err)
	}
}

// TestTrailingDelimiter writes random tables whose header ends with a delimiter: rows may, too, and
// mean the same as without it.
func TestTrailingDelimiter(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	path := filepath.Join(t.TempDir(), "x.csv")
	for range 200 {
		delim := []string{",", ";", "\t"}[rng.IntN(3)]
		ends := []string{delim, "", delim + `""`, delim + "7", delim + delim}
		cells := []string{"1", "", `"a"`, `"x` + delim + `"`, "b"}
		columns := 1 + rng.IntN(3)
		var text strings.Builder
		for range columns {
			text.WriteString("c" + strconv.Itoa(text.Len()) + delim)
		}
		text.WriteString([]string{"\n", "  \n"}[rng.IntN(2)])
		bad := int64(0)
		for range 1 + rng.IntN(5) {
			row := make([]string, columns)
			for i := range row {
				row[i] = cells[rng.IntN(len(cells))]
			}
			end := rng.IntN(len(ends))
			if end > 2 {
				bad++
			}
			if end == 1 && columns == 1 && row[0] == "" {
				row[0] = "1"
			}
			text.WriteString(strings.Join(row, delim) + ends[end] + "\n")
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		src := open(t, path, Options{Delimiter: delim[0]})
		table, err := src.Scan(t.Context(), ScanOptions{Workers: 1})
		if err != nil || len(src.Header()) != columns || table.Bad != bad {
			t.Fatalf("%q: %d columns, %d bad rows, %v; want %d and %d", text.String(), len(src.Header()), table.Bad, err, columns, bad)
		}
	}
	// All columns may be named, as before.
	if err := os.WriteFile(path, []byte("a,b,\n1,2,3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if table := scan(t, open(t, path, Options{Columns: []string{"a", "b", "c"}})); table.Bad != 0 || len(table.Columns) != 3 {
		t.Errorf("%+v", table)
	}
	for tok, err := range open(t, path, Options{}).Rows(t.Context()) {
		if err != nil || tok.Err() == nil || !strings.Contains(tok.Err().Error(), "3, of which the header names 2") {
			t.Errorf("%v, %v", err, tok.Err())
		}
	}
}
