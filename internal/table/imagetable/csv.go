package imagetable

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/charset"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// csvTable is a table of text.
type csvTable struct {
	src  *csvscan.Source
	list bool       // fields are separated by spaces
	some [][]string // rows after the first one, for Open
}

// openCSV opens a table of text, finds its columns and infers their kinds.
func (t *Table) openCSV(ctx context.Context, path string) error {
	c := &csvTable{}
	t.src = c
	if err := c.open(ctx, t, path, 0); err != nil {
		return err
	}
	if t.fields == 1 && len(strings.Fields(t.header[0])) > 1 {
		c.list = true
		// A delimiter that no path has, so that commas are part of paths.
		if err := c.open(ctx, t, path, '\x1f'); err != nil {
			return err
		}
	}
	if err := t.findColumns(false, c.some); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.some = nil
	return c.inferKinds(ctx, t, path)
}

// options returns csvscan's options for this table.
func (c *csvTable) options(t *Table, delimiter byte) csvscan.Options {
	return csvscan.Options{Decoder: charset.Charset{}.Decoder(), Delimiter: delimiter, MaxRow: maxRow, Comment: t.isComment}
}

// open opens the file and reads the first row into the header.
func (c *csvTable) open(ctx context.Context, t *Table, path string, delimiter byte) (err error) {
	o := c.options(t, delimiter)
	o.NoHeader = true
	c.src, err = csvscan.Open(ctx, path, o)
	if errors.Is(err, csvscan.ErrFormat) {
		return fmt.Errorf("%w, or give a list with a path and a label on each line", err)
	}
	if err != nil {
		return err
	}
	t.header, c.some = nil, nil
	for tok, err := range c.src.Rows(ctx) {
		switch {
		case t.header != nil && (err != nil || len(c.some) == fewRows):
		case err != nil:
			return tooLong(err)
		case t.header != nil:
			c.some = append(c.some, c.split(tok))
			continue
		case tok.Bad():
			return fmt.Errorf("%s: %w", path, tok.Err())
		default:
			t.header = c.split(tok)
			continue
		}
		break // whoever reads the rows reports the error
	}
	if t.header == nil {
		return fmt.Errorf("%s: no rows: want a path and a label in each", path)
	}
	t.fields = len(t.header)
	return nil
}

// inferKinds finds the kinds of the features and the values that they lose: it reads all rows if a
// kind is not given, or may lose some.
func (c *csvTable) inferKinds(ctx context.Context, t *Table, path string) error {
	var scanned *csvscan.Table
	for i, f := range t.o.Features {
		column := table.Column{Name: f.Name, Kind: f.Kind, Length: 1}
		if column.Kind == table.Int64 {
			t.kinds = append(t.kinds, column)
			continue
		}
		if scanned == nil {
			var err error
			if scanned, err = c.scan(ctx, t, path); err != nil {
				return err
			}
		}
		found := scanned.Columns[t.features[i]]
		if column.Kind == table.Unknown {
			column.Kind = kindOf(&found)
			if found.Texts > 0 && found.Ints+found.Floats > 0 {
				t.notes = append(t.notes, fmt.Sprintf("column %q: stored as bytes, as not all of its values are plain numbers: the first that is not is at %v", f.Name, found.FirstText))
			}
		}
		switch column.Kind {
		case table.Bytes:
			found.AccountForText(&t.account, f.Name)
		case table.Float:
			found.AccountForFloats(&t.account, f.Name, optname.ImageOptionsFeatures, ":bytes")
		}
		t.kinds = append(t.kinds, column)
	}
	return nil
}

// kindOf returns the kind of a column: unknown without values.
func kindOf(c *csvscan.Column) table.Kind {
	switch {
	case c.Ints+c.Floats+c.Texts+c.Padded == 0:
		return table.Unknown
	case c.Kind() == csvscan.KindInt64:
		return table.Int64
	case c.Kind() == csvscan.KindFloat:
		return table.Float
	}
	return table.Bytes
}

// scan looks at the values of all columns.
func (c *csvTable) scan(ctx context.Context, t *Table, path string) (*csvscan.Table, error) {
	o := c.options(t, c.src.Dialect().Delimiter)
	for i := range t.fields { // names in the header may be empty or the same
		o.Columns = append(o.Columns, strconv.Itoa(i))
	}
	src, err := csvscan.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	scanned, err := src.Scan(ctx, csvscan.ScanOptions{Workers: t.o.Workers})
	if err != nil {
		return nil, tooLong(err)
	}
	return scanned, nil
}

// isComment reports whether a line before the first row is a comment: it begins with #,
// and not with the path of an image.
func (t *Table) isComment(line []byte) bool {
	text := string(line)
	if !strings.HasPrefix(text, "#") {
		return false
	}
	path := text
	if i := strings.IndexAny(text, ",;\t|"); i >= 0 {
		path = text[:i]
	} else if i := strings.LastIndexByte(text, ' '); i >= 0 {
		path = text[:i]
	}
	return t.o.IsImage == nil || !t.o.IsImage(t.o.withSuffix(strings.TrimSpace(path)))
}

// Comments returns the number of lines that begin with # and were skipped before the first row.
func (t *Table) Comments() int64 {
	if c, ok := t.src.(*csvTable); ok {
		return c.src.Comments()
	}
	return 0
}

func (c *csvTable) name() string { return c.src.Name() }

func (c *csvTable) close() error {
	c.src.Close()
	return nil
}

// split returns the fields of a row. Paths in lists may have spaces, labels not.
func (c *csvTable) split(tok *csvscan.Tokenizer) []string {
	var fields []string
	for i := range tok.Len() {
		fields = append(fields, string(tok.Field(i)))
	}
	if !c.list {
		return fields
	}
	line := strings.TrimRight(fields[0], " \t")
	if i := strings.LastIndexAny(line, " \t"); i >= 0 {
		return []string{strings.Trim(line[:i], " \t"), line[i+1:]}
	}
	return []string{line}
}

func (c *csvTable) rows(ctx context.Context, t *Table) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		p := &rowParser{t: t, c: c, values: make([]*table.Values, len(t.features)), missing: csvscan.NewMissing(csvscan.DefaultMissing)}
		for i := range p.values {
			p.values[i] = &table.Values{}
		}
		first := t.header != nil
		for tok, err := range c.src.Rows(ctx) {
			if err != nil {
				yield(Row{}, tooLong(err))
				return
			}
			if first {
				first = false
				continue
			}
			if !yield(p.row(tok), nil) {
				return
			}
		}
	}
}

// tooLong adds the limit, which no flag changes, to the error for a row that is too long.
func tooLong(err error) error {
	var e *csvscan.Error
	if errors.As(err, &e) && errors.Is(err, csvscan.ErrRowTooLong) {
		return &csvscan.Error{Name: e.Name, Line: e.Line, Err: fmt.Errorf("%w: more than %d bytes; is a quote missing?", csvscan.ErrRowTooLong, maxRow)}
	}
	return err
}

// rowParser makes rows from a tokenizer's output.
type rowParser struct {
	t       *Table
	c       *csvTable
	missing *csvscan.Missing
	values  []*table.Values
	labels  []string
}

func (p *rowParser) row(tok *csvscan.Tokenizer) Row {
	t, row := p.t, Row{Line: tok.Line(), values: p.values, size: 1}
	for i := range tok.Len() {
		row.size += len(tok.Field(i)) + 1
	}
	var located *csvscan.Error
	if errors.As(tok.Err(), &located) {
		row.Err = located.Err
		return row
	}
	field := func(i int) string { return string(tok.Field(i)) }
	n := tok.Len()
	if p.c.list {
		fields := p.c.split(tok)
		field, n = func(i int) string { return fields[i] }, len(fields)
	}
	switch {
	case n <= max(t.path, t.label):
		row.Err = fmt.Errorf("the row has only %d of %s: want a path and a label", n, plural.Of(t.fields, "field"))
		return row
	case n != t.fields && len(t.features) > 0:
		row.Err = fmt.Errorf("the row has %s, the header %d", plural.Of(n, "field"), t.fields)
		return row
	}
	row.Path = t.o.withSuffix(field(t.path))
	if t.label >= 0 {
		cell := field(t.label)
		if t.o.Separator == "" {
			label := strings.TrimSpace(cell)
			if label != cell && t.spaced == "" {
				t.spaced = cell
			}
			cell = label
		}
		p.labels = t.splitLabels(p.labels[:0], cell)
		row.Labels = p.labels
	}
	for _, i := range t.splits {
		split := ""
		if i < n {
			split = strings.TrimSpace(field(i))
		}
		row.Splits = append(row.Splits, split)
	}
	for i := range t.features {
		if row.Err = p.value(i, tok); row.Err != nil {
			break
		}
	}
	return row
}

// value parses the cell of feature i.
func (p *rowParser) value(i int, tok *csvscan.Tokenizer) error {
	v, cell := p.values[i], tok.Field(p.t.features[i])
	v.Reset(p.t.kinds[i].Kind)
	ok := !p.missing.Is(cell) && (v.Kind == table.Bytes || !p.missing.IsPadded(cell))
	if v.Present = append(v.Present, ok); !ok {
		return nil
	}
	switch v.Kind {
	case table.Int64:
		var n int64
		if n, ok = csvscan.ParseIntOrBool(cell); ok {
			v.Ints = append(v.Ints, n)
		}
	case table.Float:
		x, fits, parsed := csvscan.ParseFloat32(cell)
		if !fits {
			return fmt.Errorf("column %q: %.40s is outside of the range of a 32-bit float", p.t.kinds[i].Name, cell)
		}
		if ok = parsed; ok {
			v.Floats = append(v.Floats, x)
		}
	default:
		v.Data = append(v.Data, cell...)
		v.Ends = append(v.Ends, int32(len(v.Data)))
	}
	if !ok {
		return fmt.Errorf("column %q: %.40q is not of type %v", p.t.kinds[i].Name, cell, v.Kind)
	}
	return nil
}
