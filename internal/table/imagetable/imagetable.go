// Package imagetable reads tables with a row for each image: its path, its labels
// and further columns.
//
//	t, err := imagetable.Open(ctx, "labels.csv.gz", imagetable.Options{})
//	defer t.Close()
//	for row, err := range t.Rows(ctx) {
//		if err != nil {
//			return err // the rest can't be read
//		}
//		if row.Err != nil {
//			log.Print(row.Line, row.Err) // this row can't be used
//			continue
//		}
//		use(row.Path, row.Labels)
//	}
//
// A table is CSV with any usual delimiter, or a list with a path and a label separated by spaces on
// each line; plain, or compressed with gzip or zstd. The first row is a header if it names a
// column, or is unlike the rows below it; lines before it that begin with # are comments. Tables
// without a header have the path in the first column and the label in the second one, or the other
// way round if only the second one has paths of images. Typed tables are in the formats of package
// table.
package imagetable

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/table"
)

// MaxBadRows is the number of unusable rows that callers allow: they hold each in memory.
const MaxBadRows = 1 << 20

// Limits of a table in bytes, uncompressed: of a row, and of all rows, which callers
// hold in memory.
const (
	maxRow   = 1 << 20
	maxTable = 1 << 30
)

// Options select the columns of a table. The zero value infers them from the header.
type Options struct {
	// PathColumn and LabelColumn name columns of the header, in any case. Default:
	// path, file, filename, file_name, image, image_path or id; and label, class,
	// target, category or tags.
	PathColumn, LabelColumn string
	// SplitColumn names the column with the split of each image. Default: split, subset or
	// partition, if there is one.
	SplitColumn string
	// NoSplits disables reading of splits.
	NoSplits bool
	// NoLabels disables reading of labels.
	NoLabels bool
	// Separator separates the labels of a row, which may have any number of them,
	// also none. Default: a row has one label.
	Separator string
	// Suffix is appended to paths that do not end in it. Default: none.
	Suffix string
	// Features are further columns to read. Default: none.
	Features []Feature
	// IsImage reports whether there is an image at a path. LikeImage reports whether a path is meant
	// to be one of an image, such as one without its extension. A first row with such a path is not
	// a header, unless it names both columns. Default: no path is known.
	IsImage, LikeImage func(path string) bool
	// OpenTyped opens a file in a format of typed tables. It returns nil for others, which are
	// text. Default: all are.
	OpenTyped func(ctx context.Context, path string) (table.Source, error)
	// Workers is the number of goroutines that infer kinds. Default: one a core.
	Workers int
}

// Feature is a column to read.
type Feature struct {
	// Name is that in the header.
	Name string
	// Kind is the kind of its values. Default: the column's own, as package table or, for text,
	// csvscan has it.
	Kind table.Kind
}

// Table is an open table.
type Table struct {
	o    Options
	src  source
	most int // bytes of all rows

	header      []string // nil without one
	fields      int      // number of columns
	path, label int      // columns; label is -1 if it is not read
	splits      []int    // columns
	features    []int    // columns
	kinds       []table.Column
	notes       []string
	account     account.Account
	found       Header
	spaced      string // a label with spaces around it, of the rows that were read
}

// source is a table of some format.
type source interface {
	// rows yields the rows without the header. The last pair may have an error.
	rows(ctx context.Context, t *Table) iter.Seq2[Row, error]
	name() string
	close() error
}

// Row is a row of a table.
type Row struct {
	// Line is where the row begins, from 1; in formats without lines, the number of the
	// row.
	Line int64
	// Path, with the suffix, and Labels as in the table. Without a Separator there is
	// one label, which may be empty. The slice is valid until the next row.
	Path   string
	Labels []string
	// Splits are the cells of the columns of splits, "" where it has none.
	Splits []string
	// Err is why the row can't be used; nil if it can. Path is then set only if the
	// fault is in another column.
	Err error

	row    int
	values []*table.Values // of the features
	size   int             // bytes of what was read
}

// Value returns where the values of feature i are: from first up to, not including,
// end. It reports whether the row has a value, or an empty list. They are valid until the
// next row.
func (r *Row) Value(i int) (v *table.Values, first, end int, ok bool) {
	v = r.values[i]
	first, end, ok = Cell(v, r.row)
	return v, first, end, ok
}

// Cell returns the range of a row's values: from first up to, not including, end. It reports
// whether the row has a value or an empty list. An empty text does not count as a value.
func Cell(v *table.Values, row int) (first, end int, ok bool) {
	if !has(v, row) {
		return 0, 0, false
	}
	first, end = v.Span(row)
	if v.Kind == table.Bytes && len(v.Splits) == 0 && len(v.Byte(first)) == 0 {
		return 0, 0, false
	}
	return first, end, true
}

// has reports whether a row has a value or an empty list: not in a column that has none at all.
func has(v *table.Values, row int) bool { return v.Kind != table.Unknown && v.Has(row) }

// Open opens a table and finds its columns. Errors name the file.
func Open(ctx context.Context, path string, o Options) (*Table, error) {
	t := &Table{o: o, most: maxTable}
	var src table.Source
	var err error
	if o.OpenTyped != nil {
		src, err = o.OpenTyped(ctx, path)
	}
	switch {
	case err != nil:
	case src != nil:
		err = t.openTyped(ctx, src)
	default:
		err = t.openCSV(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Close releases the table's resources.
func (t *Table) Close() error { return t.src.close() }

// Features returns the columns of Options.Features, in that order, with their kinds.
// Unknown is the kind of a column without values.
func (t *Table) Features() []table.Column { return t.kinds }

// Spaced returns a label of the rows that were read which has spaces around it: these do not count;
// "" if none has. It is always "" for typed tables, and with a Separator.
func (t *Table) Spaced() string { return t.spaced }

// Text reports whether the table is one of text, such as CSV, and not typed.
func (t *Table) Text() bool {
	_, text := t.src.(*csvTable)
	return text
}

// Account returns the account of values lost from the columns that are features.
func (t *Table) Account() *account.Account { return &t.account }

// Notes returns sentences on surprising interpretations of the table.
func (t *Table) Notes() []string { return t.notes }

// withSuffix returns the path of an image as the source has it.
func (o *Options) withSuffix(path string) string {
	if o.Suffix == "" || path == "" || strings.HasSuffix(strings.ToLower(path), strings.ToLower(o.Suffix)) {
		return path
	}
	return path + o.Suffix
}

// splitLabels appends the labels in a cell. Spaces around them, and empty ones, do not
// count.
func (t *Table) splitLabels(dst []string, cell string) []string {
	if t.o.Separator == "" {
		return append(dst, cell)
	}
	for label := range strings.SplitSeq(cell, t.o.Separator) {
		if label = strings.TrimSpace(label); label != "" {
			dst = append(dst, label)
		}
	}
	return dst
}

// Rows reads the table and yields its rows in order, without the header. The last
// pair has an error, of the rest of the table, where that can't be read. A row of more
// than 1 MiB is such an error in a CSV, and cannot be used in other formats; more than
// 1 GiB of rows are an error.
func (t *Table) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		left := t.most
		for row, err := range t.src.rows(ctx, t) {
			if left -= row.size; err == nil && left < 0 {
				err = fmt.Errorf("%s: more than %d bytes of rows: split the table, and convert each part with its images", t.src.name(), t.most)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
