package tables

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/arrow"
	"github.com/tfrec/tfrec/internal/table/jsonl"
	"github.com/tfrec/tfrec/internal/table/npy"
	"github.com/tfrec/tfrec/internal/table/parquet"
	"github.com/tfrec/tfrec/internal/textfile"
)

// TableFormat is a format of tables.
type TableFormat string

// The formats of tables.
const (
	TableCSV     TableFormat = "csv"
	TableJSONL   TableFormat = "jsonl" // JSON lines: an object a line
	TableParquet TableFormat = "parquet"
	TableArrow   TableFormat = "arrow" // Arrow IPC: a file, which Feather is too, or a stream
	TableNPY     TableFormat = "npy"   // an array of NumPy
	TableNPZ     TableFormat = "npz"   // arrays of NumPy
)

// Openers open the files of all formats but CSV, which is text without types.
var Openers = map[TableFormat]func(ctx context.Context, path string, o *TableOptions) (table.Source, error){
	TableJSONL: func(ctx context.Context, path string, o *TableOptions) (table.Source, error) {
		return jsonl.Open(ctx, path, jsonl.Options{MaxRow: o.MaxRow, Skip: o.drops})
	},
	TableParquet: func(ctx context.Context, path string, _ *TableOptions) (table.Source, error) {
		return parquet.Open(ctx, storage.Parse(path))
	},
	TableArrow: func(ctx context.Context, path string, _ *TableOptions) (table.Source, error) {
		return arrow.Open(ctx, storage.Parse(path))
	},
	TableNPY: openNumPy,
	TableNPZ: openNumPy,
}

// magics are how the files of binary formats but Arrow begin.
var magics = []struct {
	head   string
	format TableFormat
}{
	{"PAR1", TableParquet},
	{"\x93NUMPY", TableNPY}, {"PK\x03\x04", TableNPZ},
}

// openNumPy opens a file of one array or of several, which its content tells.
func openNumPy(ctx context.Context, path string, _ *TableOptions) (table.Source, error) {
	return npy.Open(ctx, storage.Parse(path))
}

// TableFormats returns the names of all formats, sorted.
func TableFormats() []string {
	names := []string{string(TableCSV)}
	for name := range Openers {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// detectFormats infers the format of a table from the content of its files. Files without content,
// such as empty parts, have none.
func detectFormats(ctx context.Context, paths []string) (format TableFormat, err error) {
	first := ""
	for _, path := range paths {
		f, err := DetectFormat(ctx, path)
		switch {
		case err != nil:
			return "", err
		case f == "":
		case format == "":
			format, first = f, path
		case f != format:
			return "", fmt.Errorf("%s is %s and %s is %s: all files of a table need the same format; %s gives it if one is not what it looks like", first, format, path, f, optname.TableOptionsFormat)
		}
	}
	return cmp.Or(format, TableCSV), nil
}

// DetectFormat infers the format of a file from its content; "" if that is blank. What it does not
// know is taken for CSV, whose reader refuses binary files by name.
func DetectFormat(ctx context.Context, path string) (TableFormat, error) {
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return "", err
	}
	if format := FormatOfHead(f.Head()); format != "" {
		return format, nil
	}
	in, err := f.Stream(ctx)
	if err != nil {
		return TableCSV, nil // its errors explain the fault
	}
	defer in.Close()
	sample := make([]byte, 4<<10)
	n, err := io.ReadFull(in, sample)
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && len(bytes.TrimSpace(sample[:n])) == 0 {
		return "", nil
	}
	if err != nil && n == 0 {
		return TableCSV, nil
	}
	if isObject(sample[:n]) {
		return TableJSONL, nil
	}
	return TableCSV, nil
}

// FormatOfHead returns the binary format of a file that begins so; "" for others.
func FormatOfHead(head []byte) TableFormat {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.head)) {
			return m.format
		}
	}
	if arrow.Is(head) {
		return TableArrow
	}
	return ""
}

// isObject reports whether a text begins as a JSON object.
func isObject(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	rest, opens := bytes.CutPrefix(text, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return opens && len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
}

// tableFormat reads the files of a table: as CSV, whose rows are fields of text until
// they are encoded, or as typed columns.
type tableFormat interface {
	// open opens a file of the table.
	open(ctx context.Context, path string) (tableReader, error)
	// scanOptions identify the options that scans depend on. It is called once all files are open.
	scanOptions() (string, error)
	// merge returns the columns of all files, which were scanned.
	merge(files []*tableFile) ([]inputColumn, error)
	// newRows returns what decodes the rows of chunks; see merge.
	newRows(header []string) tableRows
	// suffixes of file names that are not part of a dataset's name, in the order they are cut off.
	suffixes() []string
	// noRows describes a file without rows.
	noRows() string
}

// tableReader is an open file of a table.
type tableReader interface {
	Name() string
	Size() int64
	ModTime() time.Time
	Version() string
	InOrder() bool
	Close() error
	// scan finds rows and columns, and returns the result for restore.
	scan(ctx context.Context) (json.RawMessage, error)
	// restore takes over the result of an earlier scan. It reports whether it could.
	restore(result json.RawMessage) bool
	// The following need scan or restore.
	counts() tableCounts
	chunks() []rowChunk // without file, index and row
	distinct() []string // labels
	// read reads a chunk into c.
	read(ctx context.Context, c *openChunk) error
}

// tableCounts are the sizes of a file.
type tableCounts struct{ rows, bytes, blank int64 }

// inputColumn is a column of all files together.
type inputColumn struct {
	name    string
	kind    ColumnType // "" if no row has a value
	list    bool       // rows hold lists: of length values, of different lengths if that is 0
	length  int
	shape   []int // of a list that is an array of several dimensions, of length values
	text    bool  // bytes are UTF-8
	missing int64
	// narrowed is set if numbers have 64 bits and may have more digits than floats hold, for columns
	// without counts.
	narrowed bool
	// counts are those of a column of CSV; nil for other formats.
	counts *csvscan.Column
	// kindNote is a note for a user about a column that is stored as bytes without being asked for;
	// empty for one without surprises.
	kindNote string
}

// tableRows are the rows of a chunk, from the first to the last. It is not safe for concurrent use.
type tableRows interface {
	// begin moves before the first row of a chunk that was read.
	begin(c *openChunk) error
	// next moves to the next row, and reports whether there is one.
	next() bool
	// encode appends the features of the row to the body of e. It returns why the row is bad, or "".
	encode(e *rowEncoder) (reason string)
	// line returns the line of the row; 0 in formats without lines.
	line() int64
	// key returns the value of a column as text; "" if it has none.
	key(column int) string
}

// newFormat returns the format of the options.
func (o *TableOptions) newFormat() (tableFormat, error) {
	if o.Format == TableCSV {
		return newCSVFormat(o), nil
	}
	for _, option := range []struct {
		field optname.Name
		given bool
	}{
		{optname.CSVOptionsDelimiter, o.Delimiter != 0}, {optname.CSVOptionsNoHeader, o.NoHeader},
		{optname.CSVOptionsColumns, o.Columns != nil}, {optname.CSVOptionsMissingValues, o.MissingValues != nil},
	} {
		if option.given {
			return nil, plan.OptionErrorf(option.field, "is for CSV, and the format is %s", o.Format)
		}
	}
	return &typedFormat{o: o}, nil
}
