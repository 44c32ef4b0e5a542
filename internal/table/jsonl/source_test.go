package jsonl

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/table"
)

// openText opens a table with a text, compressed as its name says.
func openText(t *testing.T, name string, text []byte, o Options) *Source {
	t.Helper()
	var b bytes.Buffer
	switch filepath.Ext(name) {
	case ".gz":
		w := gzip.NewWriter(&b)
		w.Write(text[:len(text)/3])
		w.Close()
		w.Reset(&b) // a file of two members
		w.Write(text[len(text)/3:])
		w.Close()
	case ".zst":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(text)
		w.Close()
	default:
		b.Write(text)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// rowsOf reads all rows as text: "name=kind values" of what is present, sorted, or "bad REASON",
// each after its line. Mixed columns, which cannot be read, are left out.
func rowsOf(t *testing.T, s *Source, found *table.Table) []string {
	t.Helper()
	columns := slices.DeleteFunc(slices.Clone(found.Columns), func(c table.Column) bool { return c.Mixed != "" })
	var rows []string
	var b table.Batch
	for _, c := range found.Chunks {
		if err := s.Read(t.Context(), c, columns, &b); err != nil {
			t.Fatal(err)
		}
		if int64(b.Rows) != c.Rows || c.FirstRow != int64(len(rows)) || b.Lines[0] < c.FirstLine {
			t.Fatalf("%d rows in %+v after %d, the first on line %d", b.Rows, c, len(rows), b.Lines[0])
		}
		bad := map[int]string{}
		for _, r := range b.Bad {
			bad[r.Row] = r.Reason
		}
		for row := range b.Rows {
			text := fmt.Sprintf("%d:", b.Lines[row])
			if reason, ok := bad[row]; ok {
				rows = append(rows, text+" bad "+reason)
				continue
			}
			for i := range b.Columns {
				text += cell(&b.Columns[i], row, columns[i].Name)
			}
			rows = append(rows, text)
		}
	}
	return rows
}

// cell is a value as text.
func cell(v *table.Values, row int, name string) string {
	if !v.Has(row) {
		return ""
	}
	text := " " + name + "="
	first, end := v.Span(row)
	for i := first; i < end; i++ {
		switch v.Kind {
		case table.Int64:
			text += fmt.Sprint(v.Ints[i], ",")
		case table.Float:
			text += strconv.FormatFloat(float64(v.Floats[i]), 'g', -1, 32) + "f,"
		default:
			text += fmt.Sprintf("%q,", v.Byte(i))
		}
	}
	return text
}

func scan(t *testing.T, s *Source, o table.ScanOptions) *table.Table {
	t.Helper()
	found, err := s.Scan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestColumnsAndRows(t *testing.T) {
	ints, floats, texts := table.Int64, table.Float, table.Bytes
	long := strings.Repeat("x", 60)
	for _, test := range []struct {
		name, text string
		kinds      map[string]table.Kind
		columns    string // name:kind, [] of lists and [n] of fixed ones, ? of optional ones
		rows       []string
	}{
		{"kinds", `{"i":1,"f":1.5,"s":"007","b":true,"m":1}` + "\n" + `{"i":-2,"f":2,"s":"NA","b":false,"m":2.5}`, nil, "i:int64 f:float s:bytes b:int64 m:float",
			[]string{`1: i=1, f=1.5f, s="007", b=1, m=1f,`, `2: i=-2, f=2f, s="NA", b=0, m=2.5f,`}},
		{"lists", `{"x":[1,2],"y":[],"z":["a"]}` + "\n" + `{"x":[3,4],"y":7,"z":"b"}`, nil, "x[2]:int64 y[]:int64 z[1]:bytes",
			[]string{`1: x=1,2, y= z="a",`, `2: x=3,4, y=7, z="b",`}},
		{"objects", `{"p":{"q":{"r":1}}}` + "\r\n\r\n" + `{"p":null,"o":{}}` + "\n", nil, "p/q/r?:int64 p?:unknown", []string{"1: p/q/r=1,", "3:"}},
		{"special floats", `{"x":"NaN"}` + "\n" + `{"x":-0.0}` + "\n" + `{"x":"-Infinity"}`, nil, "x:float", []string{"1: x=NaNf,", "2: x=-0f,", "3: x=-Inff,"}},
		{"special words", `{"x":"NaN"}`, nil, "x:bytes", []string{`1: x="NaN",`}},
		{"integers beyond int64", `{"x":9223372036854775807}` + "\n" + `{"x":9223372036854775808}`, nil, "x:int64", []string{"1: x=9223372036854775807,", `2: bad column "x": "9223372036854775808" is not of type int64`}},
		{"floats beyond float32", `{"x":1e38}` + "\n" + `{"x":1e39}` + "\n" + `{"x":1e-60}`, nil, "x:float", []string{"1: x=1e+38f,", `2: bad column "x": 1e39 is outside of the range of a 32-bit float`, "3: x=0f,"}},
		{"lists beyond float32", `{"x":[123e65],"y":[1e99]}` + "\n" + `{"y":2.5}` + "\n" + `{"x":[1,-1e99]}`, nil, "x?[]:float y:float",
			[]string{`1: bad column "x": 123e65 is outside of the range of a 32-bit float`, "2: y=2.5f,", `3: bad column "x": -1e99 is outside of the range of a 32-bit float`}},
		{"asked for as int64", `{"x":1}` + "\n" + `{"x":"012"}` + "\n" + `{"x":1.0}` + "\n" + `{"x":"` + long + `"}`, map[string]table.Kind{"x": ints}, "x:int64",
			[]string{"1: x=1,", "2: x=12,", `3: bad column "x": "1.0" is not of type int64`, `4: bad column "x": "` + long[:40] + `"... is not of type int64`}},
		{"asked for as float", `{"x":1}` + "\n" + `{"x":"2.5"}` + "\n" + `{"x":"two"}`, map[string]table.Kind{"x": floats}, "x:float", []string{"1: x=1f,", "2: x=2.5f,", `3: bad column "x": "two" is not of type float`}},
		{"asked for as bytes", `{"x":1.50}` + "\n" + `{"x":true}` + "\n" + `{"x":"two"}`, map[string]table.Kind{"x": texts}, "x:bytes", []string{`1: x="1.50",`, `2: x="true",`, `3: x="two",`}},
		{"bytes in base64", `{"x.base64":"/wA=","y.base64":["","AA=="]}` + "\n" + `{"x":"text"}`, nil, "x:bytes y?[2]:bytes", []string{`1: x="\xff\x00", y="","\x00",`, `2: x="text",`}},
		{"bad rows take nothing along", `{"x":1,"y":[1,2],"only":1,"z":` + "\n" + `{"x":2,"y":[3]}` + "\n" + `{"y":[1],"x":3} {`, nil, "x:int64 y[1]:int64",
			[]string{"1: bad the line ends within the object", "2: x=2, y=3,", `3: bad text after the object: "{"`}},
		{"a byte order mark", "\xef\xbb\xbf{\"x\":1}", nil, "x:int64", []string{"1: x=1,"}},
	} {
		s := openText(t, "t.jsonl", []byte(test.text), Options{})
		found := scan(t, s, table.ScanOptions{Kinds: test.kinds})
		var columns []string
		for _, c := range found.Columns {
			text := c.Name
			if c.Missing > 0 {
				text += "?"
			}
			if c.List {
				text += strings.Replace(fmt.Sprintf("[%d]", c.Length), "0", "", 1)
			}
			columns = append(columns, text+":"+c.Kind.String())
			if wantText := c.Kind == table.Bytes && !strings.Contains(test.text, c.Name+".base64"); c.Text != wantText {
				t.Errorf("%s: column %s is text: %v", test.name, c.Name, c.Text)
			}
		}
		if got := strings.Join(columns, " "); got != test.columns {
			t.Errorf("%s: columns %s, want %s", test.name, got, test.columns)
		}
		if got := rowsOf(t, s, found); !slices.Equal(got, test.rows) {
			t.Errorf("%s: rows\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.rows, "\n"))
		}
	}
}

func TestMixedColumnsHaveNoKind(t *testing.T) {
	text := `{"x":[]}` + "\n\n" + `{"x":"a","y":1}` + "\n" + `{"x":"b"` + "\n" + `{"x":[1.5]}` + "\n" + `{"x":2}`
	s := openText(t, "t.jsonl", []byte(text), Options{})
	found, err := s.Scan(t.Context(), table.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := "numbers, the first on line 5, and text, the first on line 3"
	if x, y := found.Columns[0], found.Columns[1]; x.Name != "x" || x.Kind != table.Unknown || x.Mixed != want || y.Kind != table.Int64 || y.Mixed != "" {
		t.Errorf("%+v, %+v, want %s", x, y, want)
	}
	if got, want := rowsOf(t, s, found), []string{"1:", "3: y=1,", "4: bad the line ends within the object", "5:", "6:"}; !slices.Equal(got, want) {
		t.Errorf("rows without the mixed column: %q, want %q", got, want)
	}
}

// The result of a scan and the rows that are read after it are the same for any number of workers,
// order of reading and compression, and equal the rows read one by one.
func TestScanIsTheSameForAnyWorkersAndCompression(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	var want []string
	for line := 1; text.Len() < 5*ChunkSize/2; line++ {
		s := strings.Repeat("é", rng.IntN(50))
		row, values := fmt.Sprintf(`{"i":%d,"s":"%s"}`, line, s), fmt.Sprintf(" i=%d, s=%q,", line, s)
		switch rng.IntN(300) {
		case 0:
			text.WriteString(" \r\n")
			continue
		case 1:
			row, values = row[:len(row)-1], " bad the line ends within the object"
		case 2:
			row, values = fmt.Sprintf(`{"f%d":[0.5],"i":%d}`, line%7, line), fmt.Sprintf(" i=%d, f%d=0.5f,", line, line%7)
		case 3:
			s = strings.Repeat("long", rng.IntN(ChunkSize/16))
			row, values = fmt.Sprintf(`{"s":"%s"}`, s), fmt.Sprintf(" s=%q,", s)
		}
		text.WriteString(row + "\n")
		want = append(want, fmt.Sprintf("%d:%s", line, values))
	}
	var first *table.Table
	for _, name := range []string{"t.jsonl", "t.jsonl.gz", "t.jsonl.zst"} {
		s := openText(t, name, text.Bytes(), Options{})
		for _, workers := range []int{1, 3} {
			found := scan(t, s, table.ScanOptions{Workers: workers})
			if first == nil {
				first = found
			}
			if !cmp.Equal(found, first) {
				t.Fatalf("%s with %d workers: %s", name, workers, cmp.Diff(first, found))
			}
		}
		got := rowsOf(t, s, first)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: rows differ: %s", name, cmp.Diff(want, got))
		}
	}
	if first.Blank == 0 || first.Rows != int64(len(want)) || first.Bytes != int64(text.Len()) || len(first.Chunks) < 3 || len(first.Columns) < 5 {
		t.Errorf("the text has not what it should: %d rows, %d blank lines, %d bytes, %d chunks, %d columns", first.Rows, first.Blank, first.Bytes, len(first.Chunks), len(first.Columns))
	}
}

// A row that is too long is bad, wherever it is, and no other is lost; it is not kept in memory.
func TestLongRows(t *testing.T) {
	row := func(n int) string { return `{"s":"` + strings.Repeat("x", n-8) + `"}` } // of n bytes
	for _, before := range []int{0, 100, ChunkSize - 10, ChunkSize + 5} {
		for _, long := range []int{ChunkSize, ChunkSize + 1, 3*ChunkSize + 17} {
			for _, end := range []string{"\n", "\r\n"} {
				rows := []string{row(long), `{"s":"last"}`}
				if before > 0 {
					rows = slices.Insert(rows, 0, row(8+min(before, 4)), row(before/2+8), row(before/2+8))
				}
				bad := fmt.Sprintf("%d: bad %s", len(rows)-1, tooLong(ChunkSize))
				s := openText(t, "t.gz", []byte(strings.Join(rows, end)), Options{MaxRow: ChunkSize})
				found := scan(t, s, table.ScanOptions{})
				got := rowsOf(t, s, found)
				isBad := len(got) == len(rows) && got[len(rows)-2] == bad
				if len(got) != len(rows) || isBad != (long+len(end)-1 > ChunkSize) || got[len(rows)-1] != fmt.Sprintf(`%d: s="last",`, len(rows)) {
					t.Errorf("%d bytes after %d, ends %q: %.200q", long, before, end, got)
				}
			}
		}
	}
}

func TestChangedFilesAreNoticed(t *testing.T) {
	s := openText(t, "t.jsonl", []byte(`{"x":1}`+"\n"+`{"x":2}`), Options{})
	found := scan(t, s, table.ScanOptions{})
	var b table.Batch
	for name, change := range map[string]func(c *table.Chunk){
		"hash":         func(c *table.Chunk) { c.Hash[3]++ },
		"shorter file": func(c *table.Chunk) { c.Bytes++ },
		"offset":       func(c *table.Chunk) { c.Offset = -1 },
		"bytes":        func(c *table.Chunk) { c.Bytes = -1 },
	} {
		c := found.Chunks[0]
		change(&c)
		if err := s.Read(t.Context(), c, found.Columns, &b); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDistinct(t *testing.T) {
	text := `{"l":3,"s":"b"}` + "\n" + `{"l":true,"s":"a"}` + "\n" + `{"l":null}` + "\n" + `{"l":4,"bad"` + "\n" + `{"l":-0,"s":"b"}`
	s := openText(t, "t.jsonl", []byte(text), Options{})
	for column, want := range map[string][]string{"l": {"0", "1", "3"}, "s": {"a", "b"}, "none": nil} {
		if got := scan(t, s, table.ScanOptions{Distinct: column}).Distinct; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
}

// Names that only unusable rows have do not count; too many others are an error of the table, and so
// are names that differ from row to row.
func TestNamesOfMembers(t *testing.T) {
	var wide, differing, cut strings.Builder
	for i := range maxMembers + 1 {
		fmt.Fprintf(&wide, "{\"a\":1,\"n%d\":1}\n", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&differing, "{\"n%d\":1}\n", i)
	}
	for row := range 3 {
		cut.WriteString("{\"a\":1")
		for i := range maxMembers - 10 {
			fmt.Fprintf(&cut, ",\"n%d_%d\":1", row, i)
		}
		cut.WriteString("\n{\"a\":2}\n")
	}
	for name, c := range map[string]struct{ text, says string }{
		"wide":      {wide.String(), "more than 65536 names"},
		"differing": {differing.String(), "names that differ from row to row"},
		"cut":       {cut.String(), ""},
	} {
		src := openText(t, name+".jsonl", []byte(c.text), Options{MaxRow: 64 << 20})
		found, err := src.Scan(t.Context(), table.ScanOptions{Workers: 2})
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case len(found.Columns) != 1 || found.Columns[0].Name != "a" || found.Rows != 6:
			t.Errorf("%s: %d columns, %d rows", name, len(found.Columns), found.Rows)
		}
	}
}
