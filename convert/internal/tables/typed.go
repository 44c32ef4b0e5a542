package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table"
)

// typedFormat reads the files of formats whose columns have types.
type typedFormat struct {
	o       *TableOptions
	scans   table.ScanOptions
	columns []table.Column // of all files; nil before merge
}

func (t *typedFormat) open(ctx context.Context, path string) (tableReader, error) {
	src, err := Openers[t.o.Format](ctx, path, t.o)
	if err != nil {
		return nil, err
	}
	return &typedFile{Source: src, format: t}, nil
}

func (t *typedFormat) suffixes() []string {
	return []string{".gz", ".zst", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather", ".npz", ".npy"}
}

func (t *typedFormat) noRows() string { return "no rows" }

func (t *typedFormat) scanOptions() (string, error) {
	o := t.o
	wanted := func(name string) bool { return !o.drops(name) }
	t.scans = table.ScanOptions{Workers: o.Goroutines(), Kinds: make(map[string]table.Kind, len(o.Types)), Wanted: wanted}
	for name, kind := range o.Types {
		t.scans.Kinds[name] = KindOfType[kind]
	}
	if o.Vocab && o.Vocabulary == nil {
		t.scans.Distinct = o.Label
	}
	kinds, err := json.Marshal(t.scans.Kinds) // sorted by name
	if err != nil {
		return "", fmt.Errorf("types of columns: %w", err)
	}
	return fmt.Sprintf("%s 2 %d %s %q %q", o.Format, o.MaxRow, kinds, t.scans.Distinct, o.Drop), nil
}

// KindOfType maps types of columns to kinds, typeOfKind maps them back.
var (
	KindOfType = map[ColumnType]table.Kind{TypeInt64: table.Int64, TypeFloat: table.Float, TypeBytes: table.Bytes}
	typeOfKind = map[table.Kind]ColumnType{table.Int64: TypeInt64, table.Float: TypeFloat, table.Bytes: TypeBytes, table.Unknown: ""}
)

// merge puts the columns of the files together, in the order in which they first occur.
func (t *typedFormat) merge(files []*tableFile) ([]inputColumn, error) {
	t.columns = nil
	at := map[string]int{}
	typedBy := map[string]string{} // the first file in which a column has a kind
	var rows int64
	var dropped []string
	for _, f := range files {
		found := f.tableReader.(*typedFile).table
		dropped = append(dropped, found.Skipped...)
		has := make(map[string]bool, len(found.Columns))
		for _, c := range found.Columns {
			if t.o.drops(c.Name) {
				dropped = append(dropped, c.Name)
				continue
			}
			has[c.Name] = true
			if c.Unfit != "" {
				return nil, fmt.Errorf("%s: column %q: %s; %s leaves it out", f.Name(), c.Name, c.Unfit, optname.CSVOptionsDrop)
			}
			if c.Mixed != "" {
				return nil, fmt.Errorf("%s: column %q has %s: %s %s keeps both as text, and %s makes rows with other text errors",
					f.Name(), c.Name, c.Mixed, optname.CSVOptionsTypes, strconv.Quote(c.Name+"=bytes"), strconv.Quote(c.Name+"=float"))
			}
			i, known := at[c.Name]
			if !known {
				i = len(t.columns)
				at[c.Name] = i
				t.columns = append(t.columns, table.Column{Name: c.Name, Text: true, Missing: rows})
			}
			if err := MergeColumn(&t.columns[i], &c); err != nil {
				remedy := "write it in one type, or convert the files by themselves"
				if t.o.Format == TableJSONL {
					remedy = fmt.Sprintf("%s gives it one type", optname.CSVOptionsTypes)
				}
				return nil, fmt.Errorf("column %q is %s in %s and %s in %s: %s", c.Name, t.columns[i].Kind, typedBy[c.Name], c.Kind, f.Name(), remedy)
			}
			if typedBy[c.Name] == "" && c.Kind != table.Unknown {
				typedBy[c.Name] = f.Name()
			}
		}
		for i := range t.columns {
			if !has[t.columns[i].Name] {
				t.columns[i].Missing += found.Rows
			}
		}
		rows += found.Rows
	}
	for _, name := range t.o.Drop {
		if !slices.ContainsFunc(dropped, func(column string) bool { return table.Within(column, name) }) {
			return nil, plan.OptionErrorf(optname.CSVOptionsDrop, "there is no column %q", name)
		}
	}
	t.columns = slices.DeleteFunc(t.columns, func(c table.Column) bool { return c.Kind == table.Unknown && !c.List && isParent(c.Name, at) })
	columns := make([]inputColumn, len(t.columns))
	for i, c := range t.columns {
		columns[i] = inputColumn{name: c.Name, kind: typeOfKind[c.Kind], list: c.List, length: c.Length, shape: c.Shape, text: c.Text, missing: c.Missing, narrowed: c.Wide}
		if c.Kind == table.Unknown {
			columns[i].kindNote = fmt.Sprintf("column %q: no value in %s: stored as bytes; %s gives another type", c.Name, plural.Of(rows, "row"), optname.CSVOptionsTypes)
			t.columns[i].Kind = table.Bytes
			if given, ok := t.scans.Kinds[c.Name]; ok {
				t.columns[i].Kind = given
			}
		}
	}
	return columns, nil
}

// isParent reports whether there are columns below a name: then a column of that name without
// values is of structs or objects that were missing.
func isParent(name string, columns map[string]int) bool {
	for other := range columns {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// MergeColumn adds a file's column to that of the files before it. It returns an error if they have
// no common kind.
func MergeColumn(c, other *table.Column) error {
	c.Missing += other.Missing
	if other.Kind == table.Unknown && !other.List {
		return nil // no row has a value
	}
	c.Text = c.Text && other.Text
	c.Wide = c.Wide || other.Wide
	if c.Kind == table.Unknown && !c.List {
		c.Kind, c.List, c.Length, c.Shape = other.Kind, other.List, other.Length, other.Shape
		return nil
	}
	c.List = c.List || other.List
	if c.Length != other.Length {
		c.Length = 0
	}
	if !slices.Equal(c.Shape, other.Shape) {
		c.Shape = nil
	}
	numbers := func(a, b table.Kind) bool { return a == table.Int64 && b == table.Float }
	switch {
	case c.Kind == other.Kind, other.Kind == table.Unknown:
	case c.Kind == table.Unknown:
		c.Kind = other.Kind
	case numbers(c.Kind, other.Kind), numbers(other.Kind, c.Kind):
		c.Kind = table.Float
	default:
		return fmt.Errorf("%s and %s have no common kind", c.Kind, other.Kind)
	}
	return nil
}

func (t *typedFormat) newRows([]string) tableRows { return &typedRows{columns: t.columns} }

// typedFile is an open file of typed columns.
type typedFile struct {
	table.Source
	format *typedFormat
	table  *table.Table
}

func (f *typedFile) scan(ctx context.Context) (result json.RawMessage, err error) {
	if f.table, err = f.Source.Scan(ctx, f.format.scans); err != nil {
		return nil, err
	}
	return json.Marshal(f.table)
}

func (f *typedFile) restore(result json.RawMessage) bool {
	t := new(table.Table)
	if json.Unmarshal(result, t) != nil || slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.Kind > table.Bytes }) {
		return false
	}
	f.table = t
	return true
}

func (f *typedFile) counts() tableCounts {
	return tableCounts{rows: f.table.Rows, bytes: f.table.Bytes, blank: f.table.Blank}
}

func (f *typedFile) chunks() []rowChunk {
	chunks := make([]rowChunk, len(f.table.Chunks))
	for i, c := range f.table.Chunks {
		chunks[i] = rowChunk{rows: c.Rows, line: c.FirstLine, bytes: c.Bytes, hash: c.Hash}
	}
	return chunks
}

func (f *typedFile) distinct() []string { return f.table.Distinct }

func (f *typedFile) read(ctx context.Context, c *openChunk) error {
	chunk := f.table.Chunks[c.index]
	if text, ok := f.Source.(table.TextSource); ok {
		buffer := chunkBuffers.Get().(*[]byte)
		data, err := text.ReadText(ctx, *buffer, chunk)
		if err == nil {
			*buffer, c.text = data, buffer
		}
		return err
	}
	rows := rowBatches.Get().(*table.Batch)
	if err := f.Read(ctx, chunk, f.format.columns, rows); err != nil {
		return err
	}
	c.rows = rows
	return nil
}

// decode returns the rows of a chunk that was read; b has the memory for those of a text.
func (f *typedFile) decode(c *openChunk, b *table.Batch) (*table.Batch, error) {
	rows := c.rows
	if rows == nil {
		rows = b
		if err := f.Source.(table.TextSource).Decode(*c.text, f.table.Chunks[c.index], f.format.columns, b); err != nil {
			return nil, err
		}
	}
	if int64(rows.Rows) != c.rowChunk.rows {
		return nil, fmt.Errorf("%s: %w", f.Name(), table.ErrChanged)
	}
	return rows, nil
}
