package tablefile

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
	o       *Options
	scans   table.ScanOptions
	columns []table.Column // of all files; nil before merge
}

func (t *typedFormat) open(ctx context.Context, path string) (reader, error) {
	src, err := Openers[t.o.Format](ctx, path, TextOptions{MaxRow: t.o.MaxRow, Skip: t.drops})
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
	wanted := func(name string) bool { return !t.drops(name) }
	t.scans = table.ScanOptions{Workers: o.Workers, Kinds: o.Kinds, Wanted: wanted, Distinct: o.Distinct}
	kinds, err := json.Marshal(t.scans.Kinds) // sorted by name
	if err != nil {
		return "", fmt.Errorf("types of columns: %w", err)
	}
	return fmt.Sprintf("%s 2 %d %s %q %q", o.Format, o.MaxRow, kinds, t.scans.Distinct, o.Drop), nil
}

// drops reports whether Options.Drop leaves a column out.
func (t *typedFormat) drops(column string) bool { return Drops(t.o.Format, t.o.Drop, column) }

// merge puts the columns of the files together, in the order in which they first occur.
func (t *typedFormat) merge(files []*File) ([]Column, error) {
	t.columns = nil
	at := map[string]int{}
	typedBy := map[string]string{} // the first file in which a column has a kind
	var rows int64
	var dropped []string
	for _, f := range files {
		found := f.reader.(*typedFile).table
		dropped = append(dropped, found.Skipped...)
		has := make(map[string]bool, len(found.Columns))
		for _, c := range found.Columns {
			if t.drops(c.Name) {
				dropped = append(dropped, c.Name)
				continue
			}
			has[c.Name] = true
			if err := checkColumn(f, &c); err != nil {
				return nil, err
			}
			i, known := at[c.Name]
			if !known {
				i = len(t.columns)
				at[c.Name] = i
				t.columns = append(t.columns, table.Column{Name: c.Name, Text: true, Missing: rows})
			}
			if MergeColumn(&t.columns[i], &c) != nil {
				return nil, t.kindsDiffer(&t.columns[i], typedBy[c.Name], &c, f.Name())
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
	columns := make([]Column, len(t.columns))
	for i, c := range t.columns {
		columns[i] = Column{Name: c.Name, Kind: c.Kind, List: c.List, Length: c.Length, Shape: c.Shape, Text: c.Text, Missing: c.Missing, Narrowed: c.Wide}
		if c.Kind == table.Unknown {
			columns[i].KindNote = fmt.Sprintf("column %q: no value in %s: stored as bytes; %s gives another type", c.Name, plural.Of(rows, "row"), optname.CSVOptionsTypes)
			t.columns[i].Kind = table.Bytes
			if given, ok := t.scans.Kinds[c.Name]; ok {
				t.columns[i].Kind = given
			}
		}
	}
	return columns, nil
}

// kindsDiffer returns the error for a column whose kind in one file differs from the kind in another.
func (t *typedFormat) kindsDiffer(c *table.Column, in string, other *table.Column, file string) error {
	remedy := "write it in one type, or convert the files by themselves"
	if t.o.Format == JSONL {
		remedy = fmt.Sprintf("%s gives it one type", optname.CSVOptionsTypes)
	}
	return fmt.Errorf("column %q is %s in %s and %s in %s: %s", c.Name, c.Kind, in, other.Kind, file, remedy)
}

// checkColumn returns an error for a column of a file that cannot be stored.
func checkColumn(f *File, c *table.Column) error {
	switch {
	case c.Unfit != "":
		return fmt.Errorf("%s: column %q: %s; %s leaves it out", f.Name(), c.Name, c.Unfit, optname.CSVOptionsDrop)
	case c.Mixed != "":
		return fmt.Errorf("%s: column %q has %s: %s %s keeps both as text, and %s makes rows with other text errors",
			f.Name(), c.Name, c.Mixed, optname.CSVOptionsTypes, strconv.Quote(c.Name+"=bytes"), strconv.Quote(c.Name+"=float"))
	}
	return nil
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

// MergeColumn merges the column of a file into c, the column of the files before it. It returns an
// error if they have no common kind.
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

func (f *typedFile) scannedRows() scanned {
	t := f.table
	return scanned{rows: t.Rows, bytes: t.Bytes, blank: t.Blank, chunks: slices.Clone(t.Chunks), distinct: t.Distinct}
}

func (f *typedFile) read(ctx context.Context, c *Chunk) error {
	chunk := f.table.Chunks[c.Index]
	if text, ok := f.Source.(table.TextSource); ok {
		return c.readText(func(buffer []byte) ([]byte, error) { return text.ReadText(ctx, buffer, chunk) })
	}
	rows := rowBatches.Get().(*table.Batch)
	if err := f.Read(ctx, chunk, f.format.columns, rows); err != nil {
		return err
	}
	c.rows = rows
	return nil
}

// decode returns the rows of a chunk that was read; text is decoded into b.
func (f *typedFile) decode(c *Chunk, b *table.Batch) (*table.Batch, error) {
	rows := c.rows
	if rows == nil {
		rows = b
		if err := f.Source.(table.TextSource).Decode(*c.text, f.table.Chunks[c.Index], f.format.columns, b); err != nil {
			return nil, err
		}
	}
	if int64(rows.Rows) != c.Rows {
		return nil, fmt.Errorf("%s: %w", f.Name(), table.ErrChanged)
	}
	return rows, nil
}
