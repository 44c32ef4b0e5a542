// Package imagetable reads tables with a row for each image: its path, its label
// and further columns.
//
//	table, err := imagetable.Open(ctx, "labels.csv.gz", imagetable.Options{})
//	for row, err := range table.Rows(ctx) {
//		if err != nil {
//			return err // the rest can't be read
//		}
//		if row.Err != nil {
//			log.Print(row.Line, row.Err) // this row can't be used
//			continue
//		}
//		use(row.Path, row.Label)
//	}
//
// A table is CSV with any usual delimiter, or a list with a path and a label
// separated by spaces on each line; plain, or compressed with gzip or zstd. The
// first row is a header if it names the columns; lines before it that begin with #
// are comments. Tables without a header have the path in the first column and the
// label in the second one.
package imagetable

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/plural"
)

// The names of columns, in any case, that are looked for when Options names none.
// Earlier ones take precedence.
var (
	pathNames  = []string{"path", "file", "filename", "file_name", "image", "image_path", "id"}
	labelNames = []string{"label", "class", "target", "category", "tags"}
)

// Limits of a table in bytes, uncompressed: of a row, and of all rows, which callers
// hold in memory.
const (
	maxRow   = 1 << 20
	maxTable = 1 << 30
)

// Options say which columns of a table hold what. The zero value infers it from
// the header.
type Options struct {
	// PathColumn and LabelColumn name columns of the header, in any case. Default:
	// path, file, filename, file_name, image, image_path or id; and label, class,
	// target, category or tags.
	PathColumn, LabelColumn string
	// Suffix is appended to paths that do not end in it. Default: none.
	Suffix string
	// IsImage reports whether there is an image at a path. A first row that begins
	// with such a path is not a header. Default: no path is known.
	IsImage func(path string) bool
}

// Table is an open table. It keeps no file open.
type Table struct {
	o           Options
	src         *csvscan.Source
	list        bool     // fields are separated by spaces
	header      []string // nil without one
	fields      int      // of the first row
	path, label int      // columns
	most        int      // bytes of all rows
}

// Row is a row of a table.
type Row struct {
	// Line is where the row begins, from 1.
	Line int64
	// Path, with the suffix, and Label as in the table.
	Path, Label string
	// Err is why the row has no path and label; nil if it has.
	Err error
}

// Open opens a table and finds its columns. Errors name the file.
func Open(ctx context.Context, path string, o Options) (*Table, error) {
	t := &Table{o: o, label: 1, most: maxTable}
	if err := t.open(ctx, path, 0); err != nil {
		return nil, err
	}
	if t.fields == 1 && len(strings.Fields(t.header[0])) > 1 {
		t.list = true
		// A delimiter that no path has, so that commas are part of paths.
		if err := t.open(ctx, path, '\x1f'); err != nil {
			return nil, err
		}
	}
	if err := t.findColumns(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// open opens the file and reads the first row into header.
func (t *Table) open(ctx context.Context, path string, delimiter byte) (err error) {
	t.src, err = csvscan.Open(ctx, path, csvscan.Options{NoHeader: true, Delimiter: delimiter, MaxRow: maxRow, Comment: t.isComment})
	if errors.Is(err, csvscan.ErrFormat) {
		return fmt.Errorf("%w, or give a list with a path and a label on each line", err)
	}
	if err != nil {
		return err
	}
	t.header = nil
	for tok, err := range t.src.Rows(ctx) {
		switch {
		case err != nil:
			return tooLong(err)
		case tok.Bad():
			return fmt.Errorf("%s: %w", path, tok.Err())
		}
		t.header = t.split(tok)
		break
	}
	if t.header == nil {
		return fmt.Errorf("%s: no rows: want a path and a label in each", path)
	}
	t.fields = len(t.header)
	return nil
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
	return t.o.IsImage == nil || !t.o.IsImage(t.withSuffix(strings.TrimSpace(path)))
}

// Comments is how many lines before the first row were skipped, as they begin with #.
func (t *Table) Comments() int64 { return t.src.Comments() }

// split returns the fields of a row. Paths in lists may have spaces, labels not.
func (t *Table) split(tok *csvscan.Tokenizer) []string {
	var fields []string
	for i := range tok.Len() {
		fields = append(fields, string(tok.Field(i)))
	}
	if !t.list {
		return fields
	}
	line := strings.TrimRight(fields[0], " \t")
	if i := strings.LastIndexAny(line, " \t"); i >= 0 {
		return []string{strings.Trim(line[:i], " \t"), line[i+1:]}
	}
	return []string{line}
}

// findColumns distinguishes a header from a row, and finds the columns that it names.
func (t *Table) findColumns() error {
	path, err := t.given("path", t.o.PathColumn)
	if err != nil {
		return err
	}
	label, err := t.given("label", t.o.LabelColumn)
	if err != nil {
		return err
	}
	given := path >= 0 || label >= 0
	if path < 0 {
		path = t.guess(pathNames, label)
	}
	if label < 0 {
		label = t.guess(labelNames, path)
	}
	switch {
	case path >= 0 && path == label:
		return fmt.Errorf("column %q can't hold paths and labels", t.header[path])
	case path >= 0 && label >= 0:
		t.path, t.label = path, label
		return nil
	case !given && (path < 0 && label < 0 || t.o.IsImage != nil && t.o.IsImage(t.withSuffix(t.header[0]))):
		t.header = nil
		if t.fields < 2 {
			return errors.New("one column only: want a path and a label in each row")
		}
		return nil
	case path < 0:
		return t.unknown("path", "LabelSpec.PathColumn", pathNames)
	}
	return t.unknown("label", "LabelSpec.Column", labelNames)
}

// given returns the column of a name, and -1 for no name.
func (t *Table) given(what, name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	i := t.find(name)
	if i < 0 {
		return 0, fmt.Errorf("there is no %s column %q; the columns are %s", what, name, Quote(t.header))
	}
	return i, nil
}

// guess returns the first column of the names, other than one that is taken; -1 if
// there is none.
func (t *Table) guess(names []string, taken int) int {
	for _, name := range names {
		if i := t.find(name); i >= 0 && i != taken {
			return i
		}
	}
	return -1
}

func (t *Table) find(name string) int {
	return slices.IndexFunc(t.header, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), strings.TrimSpace(name)) })
}

// unknown is the error for a column that an option may name.
func (t *Table) unknown(what, option string, guesses []string) error {
	return fmt.Errorf("which column holds the %s? %s names it; none is called %s; the columns are %s",
		what, option, strings.Join(guesses, ", "), Quote(t.header))
}

// Quote lists names of columns, the first twenty of them.
func Quote(names []string) string { return plural.Quoted(names, 20) }

func (t *Table) withSuffix(path string) string {
	if t.o.Suffix == "" || path == "" || strings.HasSuffix(strings.ToLower(path), strings.ToLower(t.o.Suffix)) {
		return path
	}
	return path + t.o.Suffix
}

// Columns returns the names of the columns of paths and labels, and of those that
// are not used. The first two are empty for a table without a header.
func (t *Table) Columns() (path, label string, ignored []string) {
	for i := range t.fields {
		switch {
		case i == t.path || i == t.label:
		case t.header == nil:
			ignored = append(ignored, fmt.Sprintf("column %d", i+1))
		default:
			ignored = append(ignored, t.header[i])
		}
	}
	if t.header == nil {
		return "", "", ignored
	}
	return t.header[t.path], t.header[t.label], ignored
}

// Rows reads the table and yields its rows in order, without the header. The last
// pair has an error, of the rest of the table, where that can't be read. A row of more
// than 1 MiB is such an error, and so are more than 1 GiB of rows.
func (t *Table) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		first, left := t.header != nil, t.most
		for tok, err := range t.src.Rows(ctx) {
			if err != nil {
				yield(Row{}, tooLong(err))
				return
			}
			left--
			for i := range tok.Len() {
				left -= len(tok.Field(i)) + 1
			}
			if left < 0 {
				yield(Row{}, fmt.Errorf("%s: more than %d bytes of rows: split the table, and convert each part with its images", t.src.Name(), t.most))
				return
			}
			if first {
				first = false
				continue
			}
			if !yield(t.row(tok), nil) {
				return
			}
		}
	}
}

// tooLong says of a row that is too long what the limit here is, which no flag moves.
func tooLong(err error) error {
	var e *csvscan.Error
	if errors.As(err, &e) && errors.Is(err, csvscan.ErrRowTooLong) {
		return &csvscan.Error{Name: e.Name, Line: e.Line, Err: fmt.Errorf("%w: more than %d bytes; is a quote missing?", csvscan.ErrRowTooLong, maxRow)}
	}
	return err
}

func (t *Table) row(tok *csvscan.Tokenizer) Row {
	row := Row{Line: tok.Line()}
	var located *csvscan.Error
	if errors.As(tok.Err(), &located) {
		row.Err = located.Err
		return row
	}
	var fields []string
	if t.list {
		fields = t.split(tok)
	}
	switch n := max(tok.Len(), len(fields)); {
	case n <= max(t.path, t.label):
		row.Err = fmt.Errorf("the row has only %d of %s: want a path and a label", n, plural.Of(t.fields, "field"))
	case t.list:
		row.Path, row.Label = t.withSuffix(fields[t.path]), fields[t.label]
	default:
		row.Path, row.Label = t.withSuffix(string(tok.Field(t.path))), string(tok.Field(t.label))
	}
	return row
}
