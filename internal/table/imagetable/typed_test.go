package imagetable

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/table"
)

// memory is a typed table of values: nil, int64, float32, string, or a slice of one of these.
type memory struct {
	columns []table.Column
	rows    [][]any
	bad     map[int]string
	lines   bool // each row has a line, every second one
	chunk   int  // rows
	closed  bool
}

func (m *memory) Name() string       { return "memory.t" }
func (m *memory) Size() int64        { return 1 }
func (m *memory) ModTime() time.Time { return time.Time{} }
func (m *memory) Version() string    { return "" }
func (m *memory) InOrder() bool      { return false }
func (m *memory) Close() error       { m.closed = true; return nil }

func (m *memory) Scan(context.Context, table.ScanOptions) (*table.Table, error) {
	t := &table.Table{Columns: m.columns, Rows: int64(len(m.rows))}
	for at := 0; at < len(m.rows); at += m.chunk {
		t.Chunks = append(t.Chunks, table.Chunk{Index: len(t.Chunks), FirstRow: int64(at), Rows: int64(min(m.chunk, len(m.rows)-at))})
	}
	return t, nil
}

func (m *memory) Read(_ context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	*b = table.Batch{Rows: int(c.Rows), Columns: make([]table.Values, len(columns))}
	for r := range b.Rows {
		n := int(c.FirstRow) + r
		if why, ok := m.bad[n]; ok {
			b.Bad = append(b.Bad, table.BadRow{Row: r, Reason: why})
		}
		if m.lines {
			b.Lines = append(b.Lines, int64(2*n+1))
		}
	}
	for i, column := range columns {
		k := slices.IndexFunc(m.columns, func(c table.Column) bool { return c.Name == column.Name })
		v := &b.Columns[i]
		v.Reset(column.Kind)
		for r := range b.Rows {
			n := int(c.FirstRow) + r
			cell := m.rows[n][k]
			if m.bad[n] != "" {
				cell = nil
			}
			addCell(v, cell, column.List)
		}
	}
	return nil
}

// addCell adds the value of a row: see table.Values.
func addCell(v *table.Values, cell any, list bool) {
	v.Present = append(v.Present, cell != nil)
	if list && len(v.Splits) == 0 {
		v.Splits = append(v.Splits, 0)
	}
	values, _ := cell.([]any)
	if !list {
		values = []any{cell}
	}
	for _, x := range values {
		switch v.Kind {
		case table.Int64:
			n, _ := x.(int64)
			v.Ints = append(v.Ints, n)
		case table.Float:
			n, _ := x.(float32)
			v.Floats = append(v.Floats, n)
		default:
			s, _ := x.(string)
			v.Data = append(v.Data, s...)
			v.Ends = append(v.Ends, int32(len(v.Data)))
		}
	}
	if list {
		v.Splits = append(v.Splits, int32(len(v.Ints)+len(v.Floats)+len(v.Ends)))
	}
}

// open opens a table in memory.
func (m *memory) open(t *testing.T, o Options) (*Table, error) {
	o.OpenTyped = func(context.Context, string) (table.Source, error) { return m, nil }
	return Open(t.Context(), "memory.t", o)
}

// rowText is all that a row says, for comparisons.
func rowText(t *Table, row *Row) string {
	if row.Err != nil {
		return fmt.Sprintf("%d %q %v", row.Line, row.Path, row.Err)
	}
	text := fmt.Sprintf("%d %q %q", row.Line, row.Path, row.Labels)
	for i, c := range t.Features() {
		v, first, end, ok := row.Value(i)
		if !ok {
			continue
		}
		text += " " + c.Name + "="
		for k := first; k < end; k++ {
			text += fmt.Sprintf("%v %q,", v.Kind, textOf(v, k))
		}
	}
	return text
}

func TestTypedTables(t *testing.T) {
	for what, c := range map[string]struct {
		m    memory
		o    Options
		want []string
	}{
		"texts": {memory{columns: []table.Column{{Name: "label", Kind: table.Bytes}, {Name: "Path", Kind: table.Bytes}},
			rows: [][]any{{"x", "a.jpg"}, {nil, "b.jpg"}, {"y", nil}}},
			Options{}, []string{`1 "a.jpg" ["x"]`, `2 "b.jpg" [""]`, `3 "" ["y"]`}},
		"numbers, suffix": {memory{columns: []table.Column{{Name: "id", Kind: table.Int64}, {Name: "class", Kind: table.Float}},
			rows: [][]any{{int64(7), float32(0.1)}, {int64(-8), float32(2)}}, lines: true},
			Options{Suffix: ".jpg"}, []string{`1 "7.jpg" ["0.1"]`, `3 "-8.jpg" ["2"]`}},
		"features": {memory{columns: []table.Column{{Name: "path", Kind: table.Bytes}, {Name: "n", Kind: table.Int64}, {Name: "xs", Kind: table.Float, List: true}, {Name: "s", Kind: table.Bytes}, {Name: "none"}},
			rows: [][]any{{"a", int64(5), []any{float32(1), float32(2)}, "é", nil}, {"b", nil, []any{}, "", nil}, {"c", int64(0), nil, nil, nil}}, bad: map[int]string{2: "broken"}},
			Options{NoLabels: true, Features: []Feature{{Name: "xs"}, {Name: "none"}, {Name: "n"}, {Name: "s"}, {Name: "path"}}},
			[]string{`1 "a" [] xs=float "1",float "2", n=int64 "5", s=bytes "é", path=bytes "a",`, `2 "b" [] xs= path=bytes "b",`, `3 "" broken`}},
		"lists of labels": {memory{columns: []table.Column{{Name: "path", Kind: table.Bytes}, {Name: "tags", Kind: table.Bytes, List: true}},
			rows: [][]any{{"a", []any{"b|c", "", "d"}}, {"b", nil}, {"c", []any{}}}},
			Options{Separator: "|"}, []string{`1 "a" ["b|c" "d"]`, `2 "b" []`, `3 "c" []`}},
		"separated labels": {memory{columns: []table.Column{{Name: "path", Kind: table.Bytes}, {Name: "tags", Kind: table.Bytes}},
			rows: [][]any{{"a", " b | c||d "}, {"b", nil}, {"c", ""}}},
			Options{Separator: "|"}, []string{`1 "a" ["b" "c" "d"]`, `2 "b" []`, `3 "c" []`}},
		"a row too large": {memory{columns: []table.Column{{Name: "path", Kind: table.Bytes}, {Name: "label", Kind: table.Bytes}},
			rows: [][]any{{"a", strings.Repeat("x", maxRow)}, {"b", "y"}}},
			Options{}, []string{`1 "" the row has 1048596 bytes of values: more than 1048576`, `2 "b" ["y"]`}},
	} {
		for chunk := range 3 {
			c.m.chunk = chunk + 1
			opened, err := c.m.open(t, c.o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			var got []string
			for row, err := range opened.Rows(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rowText(opened, &row))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, in chunks of %d: %q, want %q", what, chunk+1, got, c.want)
			}
			if opened.Close(); !c.m.closed {
				t.Error("the source is not closed")
			}
		}
	}
}

func TestTypedTablesThatAreRefused(t *testing.T) {
	text := func(names ...string) (columns []table.Column) {
		for _, name := range names {
			columns = append(columns, table.Column{Name: name, Kind: table.Bytes})
		}
		return columns
	}
	for want, c := range map[string]struct {
		columns []table.Column
		o       Options
	}{
		`memory.t: which column holds the label? LabelSpec.Column names it; none is called label, class`: {text("path", "breed"), Options{}},
		`memory.t: which column holds the path?`:                                                         {text("where", "what"), Options{}},
		`memory.t: there is no column "n"; the columns are`:                                              {text("path", "label"), Options{Features: []Feature{{Name: "n"}}}},
		`column "path" can't hold paths: its values are`:                                                 {[]table.Column{{Name: "path", Kind: table.Float}, {Name: "label"}}, Options{}},
		`column "label" holds lists: LabelSpec.Separator`:                                                {[]table.Column{{Name: "path", Kind: table.Bytes}, {Name: "label", List: true}}, Options{}},
	} {
		m := &memory{columns: c.columns, rows: [][]any{make([]any, len(c.columns))}, chunk: 1}
		if _, err := m.open(t, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if !m.closed {
			t.Errorf("%s: the source stays open", want)
		}
	}
	if _, err := (&memory{columns: text("path", "label"), chunk: 1}).open(t, Options{}); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Error(err)
	}
}

// TestTypedTablesSayWhatTextSays: a table gives the same rows as text and with types.
func TestTypedTablesSayWhatTextSays(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for round := range 50 {
		m := &memory{columns: []table.Column{{Name: "path", Kind: table.Bytes}, {Name: "tags", Kind: table.Bytes}, {Name: "n", Kind: table.Int64}, {Name: "x", Kind: table.Float}, {Name: "s", Kind: table.Bytes}}, chunk: 1 + rnd.IntN(7)}
		var text strings.Builder
		text.WriteString("path,tags,n,x,s\n")
		for i := range 1 + rnd.IntN(20) {
			tags := []string{"a|b", "", " c ", "a||é"}[rnd.IntN(4)]
			row := []any{fmt.Sprintf("%d.jpg", i), tags, nil, nil, nil}
			for k, v := range map[int]any{2: rnd.Int64() - rnd.Int64(), 3: float32(rnd.NormFloat64()), 4: fmt.Sprint("s ", i)} {
				if rnd.IntN(3) > 0 {
					row[k] = v
				}
			}
			cells := make([]string, len(row))
			for k, v := range row {
				if v != nil {
					cells[k] = fmt.Sprint(v)
				}
			}
			text.WriteString(strings.Join(cells, ",") + "\n")
			m.rows = append(m.rows, row)
		}
		o := Options{Separator: "|", Features: []Feature{{Name: "n", Kind: table.Int64}, {Name: "x", Kind: table.Float}, {Name: "s"}}}
		csv, err := Open(t.Context(), write(t, "t.csv", []byte(text.String())), o)
		if err != nil {
			t.Fatal(err)
		}
		typed, err := m.open(t, o)
		if err != nil {
			t.Fatal(err)
		}
		all := func(table *Table) (list []string) {
			for row, err := range table.Rows(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				row.Line = 0
				list = append(list, rowText(table, &row))
			}
			return list
		}
		if got, want := all(typed), all(csv); !slices.Equal(got, want) {
			t.Fatalf("round %d: %q, as text %q", round, got, want)
		}
	}
}

// Columns that are not used may be unfit; one that is used is named. One list among the paths is a
// bad row, and lists in all rows are refused.
func TestUnfitColumns(t *testing.T) {
	columns := []table.Column{{Name: "path", Kind: table.Bytes, Length: 1}, {Name: "label", Kind: table.Bytes, Length: 1}, {Name: "m", Unfit: "a map does not fit a feature", Length: 1}}
	src := func() *memory {
		return &memory{columns: slices.Clone(columns), rows: [][]any{{"a", "x", nil}}, chunk: 5}
	}
	open := func(m *memory, features ...Feature) ([]string, error) {
		tab, err := Open(t.Context(), "", Options{Features: features, OpenTyped: func(context.Context, string) (table.Source, error) { return m, nil }})
		if err != nil {
			return nil, err
		}
		defer tab.Close()
		return rows(t, tab), nil
	}
	if got, err := open(src()); err != nil || fmt.Sprint(got) != "[1 a=x]" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := open(src(), Feature{Name: "m"}); err == nil || !strings.Contains(err.Error(), `column "m": a map does not fit`) {
		t.Error(err)
	}
	m := src()
	m.columns[0].List, m.columns[0].Length = true, 0
	m.rows = [][]any{{[]any{"a"}, "x", nil}, {[]any{"b", "c"}, "y", nil}, {[]any{"d"}, "z", nil}}
	if got, err := open(m); err != nil || fmt.Sprint(got) != `[1 a=x 2 column "path": a list of 2 values: want one path 3 d=z]` {
		t.Errorf("%v, %v", got, err)
	}
	m.columns[0].Length = 2
	if _, err := open(m); err == nil || !strings.Contains(err.Error(), `"path" can't hold paths`) {
		t.Error(err)
	}
}

// Two columns of one name are an error that names them.
func TestRepeatedColumns(t *testing.T) {
	for text, want := range map[string]string{
		"path,label,x,x,y,y\na,1,,,,\n": `several columns are called "x", "y"`,
		"path,label,label\na,1,2\n":     `several columns are called "label"`,
		"path,label,,\na,1,,\n":         "",
	} {
		tab, err := Open(t.Context(), write(t, "t.csv", []byte(text)), Options{})
		if want == "" && err == nil {
			tab.Close()
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
