package imagetable

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
)

// typedTable is a table whose columns have types.
type typedTable struct {
	src     table.Source
	scanned *table.Table
	// columns are those to read; path, label and features are positions in it.
	columns     []table.Column
	path, label int
	splits      []int
	features    []int
}

// openTyped finds the columns of a typed table. It closes src with the table, also on an error.
func (t *Table) openTyped(ctx context.Context, src table.Source) (err error) {
	c := &typedTable{src: src, label: -1}
	t.src = c
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	kinds := map[string]table.Kind{}
	for _, f := range t.o.Features {
		if f.Kind != table.Unknown {
			kinds[f.Name] = f.Kind
		}
	}
	for {
		if c.scanned, err = src.Scan(ctx, table.ScanOptions{Workers: t.o.Workers, Kinds: kinds, Wanted: t.wanted}); err != nil {
			return err
		}
		if c.scanned.Rows == 0 {
			return fmt.Errorf("%s: no rows: want a path and a label in each", src.Name())
		}
		t.header = []string{}
		for _, column := range c.scanned.Columns {
			t.header = append(t.header, column.Name)
		}
		t.fields = len(t.header)
		if err := t.findColumns(true, nil); err != nil {
			return fmt.Errorf("%s: %w", src.Name(), err)
		}
		// Paths and labels that are numbers and text are text.
		again := false
		for _, i := range append([]int{t.path, t.label}, t.splits...) {
			if i >= 0 && c.scanned.Columns[i].Mixed != "" {
				kinds[t.header[i]], again = table.Bytes, true
			}
		}
		if !again {
			break
		}
	}
	if err := c.check(t); err != nil {
		return fmt.Errorf("%s: %w", src.Name(), err)
	}
	c.path = c.use(t.path)
	if t.label >= 0 {
		c.label = c.use(t.label)
	}
	for _, i := range t.splits {
		c.splits = append(c.splits, c.use(i))
	}
	for _, i := range t.features {
		if f := &c.scanned.Columns[i]; f.Mixed != "" {
			return fmt.Errorf("%s: column %q has %s: %s %s keeps both as text, and %s makes rows with other text errors",
				src.Name(), f.Name, f.Mixed, optname.ImageOptionsFeatures, strconv.Quote(f.Name+":bytes"), strconv.Quote(f.Name+":float"))
		}
		if c.scanned.Columns[i].Narrows() {
			t.account.Add(account.Wide, c.scanned.Columns[i].Name)
		}
		t.kinds = append(t.kinds, c.scanned.Columns[i])
		c.features = append(c.features, c.use(i))
	}
	return nil
}

// check returns an error for columns that cannot be read, or cannot hold paths or labels.
func (c *typedTable) check(t *Table) error {
	for _, i := range slices.Concat([]int{t.path, t.label}, t.splits, t.features) {
		if i >= 0 && c.scanned.Columns[i].Unfit != "" {
			return fmt.Errorf("column %q: %s", c.scanned.Columns[i].Name, c.scanned.Columns[i].Unfit)
		}
	}
	path := &c.scanned.Columns[t.path]
	if path.List && path.Length > 1 || path.Kind == table.Float {
		return fmt.Errorf("column %q can't hold paths: its values are lists or of type float", path.Name)
	}
	if t.label < 0 {
		return nil
	}
	if label := &c.scanned.Columns[t.label]; label.List && t.o.Separator == "" {
		return fmt.Errorf("column %q holds lists: %s stores several labels of an image", label.Name, optname.LabelSpecSeparator)
	}
	return nil
}

// use returns the position of a column of the scan among those to read.
func (c *typedTable) use(column int) int {
	name := c.scanned.Columns[column].Name
	if i := slices.IndexFunc(c.columns, func(u table.Column) bool { return u.Name == name }); i >= 0 {
		return i
	}
	c.columns = append(c.columns, c.scanned.Columns[column])
	return len(c.columns) - 1
}

func (c *typedTable) name() string { return c.src.Name() }

func (c *typedTable) close() error { return c.src.Close() }

func (c *typedTable) rows(ctx context.Context, t *Table) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var b table.Batch
		var labels []string
		values := make([]*table.Values, len(c.features))
		for _, chunk := range c.scanned.Chunks {
			if err := ctx.Err(); err != nil {
				yield(Row{}, err)
				return
			}
			if err := c.src.Read(ctx, chunk, c.columns, &b); err != nil {
				yield(Row{}, err)
				return
			}
			for i, column := range c.features {
				values[i] = &b.Columns[column]
			}
			bad := b.Bad
			for r := range b.Rows {
				row := Row{Line: chunk.FirstRow + int64(r) + 1, row: r, values: values}
				if len(b.Lines) > 0 {
					row.Line = b.Lines[r]
				}
				if len(bad) > 0 && bad[0].Row == r {
					row.Err, bad = fmt.Errorf("%s", bad[0].Reason), bad[1:]
				} else {
					labels = c.fill(t, &row, &b, labels[:0])
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// fill reads the path and the labels of a row, the latter into memory that it returns.
func (c *typedTable) fill(t *Table, row *Row, b *table.Batch, labels []string) []string {
	row.size = c.size(row, b)
	if row.size > maxRow {
		row.Err = fmt.Errorf("the row has %d bytes of values: more than %d", row.size, maxRow)
		return labels
	}
	if v := &b.Columns[c.path]; has(v, row.row) {
		first, end := v.Span(row.row)
		if end-first != 1 {
			row.Err = fmt.Errorf("column %q: a list of %d values: want one path", c.columns[c.path].Name, end-first)
			return labels
		}
		row.Path = t.o.withSuffix(textOf(v, first))
	}
	for _, i := range c.splits {
		split := ""
		if v := &b.Columns[i]; has(v, row.row) {
			if first, end := v.Span(row.row); end-first == 1 {
				split = strings.TrimSpace(textOf(v, first))
			}
		}
		row.Splits = append(row.Splits, split)
	}
	if c.label < 0 {
		return labels
	}
	v := &b.Columns[c.label]
	switch first, end := v.Span(row.row); {
	case !has(v, row.row) && t.o.Separator == "":
		labels = append(labels, "")
	case !has(v, row.row):
	case c.columns[c.label].List:
		for i := first; i < end; i++ {
			if label := c.labelOf(row, v, i); label != "" {
				labels = append(labels, label)
			}
		}
	default:
		labels = t.splitLabels(labels, c.labelOf(row, v, first))
	}
	row.Labels = labels
	return labels
}

// labelOf returns label i of a row as text: NaN is none. A number that may have been another
// integer is an error of the row.
func (c *typedTable) labelOf(row *Row, v *table.Values, i int) string {
	if v.Kind != table.Float {
		return textOf(v, i)
	}
	x := v.Floats[i]
	n, err := table.Integer(x)
	switch {
	case x != x:
		return ""
	case err == nil:
		return strconv.FormatInt(n, 10)
	case x == float32(math.Trunc(float64(x))):
		row.Err = fmt.Errorf("column %q: %w", c.columns[c.label].Name, err)
	}
	return textOf(v, i)
}

// size returns the size of a row's values in bytes.
func (c *typedTable) size(row *Row, b *table.Batch) int {
	n := 1
	for i := range b.Columns {
		v := &b.Columns[i]
		if n++; !has(v, row.row) {
			continue
		}
		first, end := v.Span(row.row)
		if n += 8 * (end - first); v.Kind == table.Bytes && end > first {
			n += int(v.Ends[end-1])
			if first > 0 {
				n -= int(v.Ends[first-1])
			}
		}
	}
	return n
}

// textOf returns value i as text.
func textOf(v *table.Values, i int) string {
	switch v.Kind {
	case table.Int64:
		return strconv.FormatInt(v.Ints[i], 10)
	case table.Float:
		return strconv.FormatFloat(float64(v.Floats[i]), 'g', -1, 32)
	}
	return string(v.Byte(i))
}
