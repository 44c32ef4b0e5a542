package convert

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/convert/internal/tables"
)

// CSVOptions configure how tables of CSV become records. They embed Options.
//
// Reading:
//   - Encoding of the files, by a name of WHATWG's Encoding Standard such as latin1, cp1252 or gbk;
//     records have UTF-8. Default: bytes as they are, and UTF-16 with its byte order mark.
//   - Delimiter between fields. Default: detected from the first lines of each file.
//   - NoHeader means that the first row is data; Columns then names all columns.
//   - MaxRow is the maximum length of a row in bytes. Default: 64 MiB.
//
// Columns and rows:
//   - Types of columns by name. Default: int64 when all values are integers, float when all are
//     numbers, and bytes otherwise.
//   - Missing is the treatment of missing values, and MissingValues are their spellings. Default:
//     MissingDrop, and the empty field, NA, N/A, NULL and null.
//   - Drop names columns that are left out, and Vectors packs columns into one feature each.
//   - Label is the column with the label, Vocab maps labels to ids, Vocabulary names them in the
//     order of ids, and LabelOffset is the number of background names before them.
//   - Key is the column that identifies a row in the ledger. Default: file and line.
//   - Shuffle puts the rows of a split into a random order, with up to Memory bytes (512 MiB), and
//     beyond that on disk. Default: the order of the input.
type CSVOptions = tables.CSVOptions

// TableOptions configure how tables of any format become records. They embed CSVOptions, of which
// Encoding, Delimiter, NoHeader, Columns and MissingValues are for CSV alone and MaxRow is for the
// formats that are text, and add the Format of all files. Default: inferred from the content of each.
type TableOptions = tables.TableOptions

// CSV converts the tables that srcs name, files or globs, into a set in the directory out. Sources
// are read in the given order, and the files of a glob in the order of their names. All tables must
// have the same columns.
func CSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Summary, error) {
	return tables.CSV(ctx, srcs, out, o, stated.SplitsOfFiles)
}

// Table converts the tables that srcs name, files or globs, into a set in the directory out.
// Sources are read in the given order, and the files of a glob in the order of their names. All
// tables must have one format. CSV files must have the same columns. In all other formats, rows of
// a file without a column have no value for it, a column with integers in some files and floats in
// others becomes a column of floats, and any other difference between kinds is an error.
//
// A column becomes a feature of its kind, and a list becomes a feature with a value per element.
// Missing decides how a missing value (null) is stored; an empty list is a feature without values.
func Table(ctx context.Context, srcs []string, out string, o TableOptions) (*Summary, error) {
	return tables.Table(ctx, srcs, out, o, stated.SplitsOfFiles)
}

// ColumnType is the type of a column's values in an Example.
type ColumnType = tables.ColumnType

// The types of columns. Of the last four, texts become numbers; a text that is none is a fault of its row.
//
//   - TypeBool stores 1 for true, t, yes, y, on and 1, and 0 for false, f, no, n, off and 0, in any case.
//   - TypeDate stores the days since 1970-01-01 of a date of ISO 8601, or of a layout of package time:
//     "date:02.01.2006".
//   - TypeTime stores the microseconds since 1970-01-01 00:00 UTC of a time of ISO 8601, or of a layout.
//     Without a zone it is in UTC.
//   - TypeNumber stores a number with thousands separators, a currency, a percent sign (a hundredth) or
//     in parentheses (negative), such as "$1,234.50"; "number:," has a decimal comma.
const (
	TypeInt64  = tables.TypeInt64  // "int64"
	TypeFloat  = tables.TypeFloat  // "float": 32 bits, like every float of an Example
	TypeBytes  = tables.TypeBytes  // "bytes": the text, unchanged
	TypeBool   = tables.TypeBool   // "bool", stored as int64
	TypeDate   = tables.TypeDate   // "date", stored as int64
	TypeTime   = tables.TypeTime   // "time", stored as int64
	TypeNumber = tables.TypeNumber // "number", stored as float
)

// ParseColumnType parses "int64", "float", "bytes", "bool", "date", "time" or "number", or one of these with
// a layout, such as "date:02.01.2006".
func ParseColumnType(s string) (ColumnType, error) { return tables.ParseColumnType(s) }

// MissingPolicy is the treatment of missing values.
type MissingPolicy = tables.MissingPolicy

// The policies for missing values.
const (
	// MissingDrop ("drop-feature") omits the feature from the record. A vector with a missing value is
	// omitted as a whole.
	MissingDrop = tables.MissingDrop
	// MissingDefault ("default") stores 0 or the empty string; for a label with Vocab -1, TFDS's
	// unknown label; for lists that are all of one length as many zeros, and for others none.
	MissingDefault = tables.MissingDefault
	// MissingError ("error") makes the row a bad sample.
	MissingError = tables.MissingError
)

// Vector packs Columns into one feature of this Name. FIRST..LAST among the columns means the range
// from one to the other, in the order of the input.
type Vector = tables.Vector

// ParseVector parses "NAME=FIRST..LAST" or "NAME=A,B,C".
func ParseVector(s string) (Vector, error) { return tables.ParseVector(s) }

// TableFormat is a format of tables.
type TableFormat = tablefile.Format

// The formats of tables.
const (
	TableCSV     = tablefile.CSV     // "csv"
	TableJSONL   = tablefile.JSONL   // "jsonl": JSON lines, an object a line
	TableParquet = tablefile.Parquet // "parquet"
	TableArrow   = tablefile.Arrow   // "arrow": Arrow IPC: a file, which Feather is too, or a stream
	TableNPY     = tablefile.NPY     // "npy": an array of NumPy
	TableNPZ     = tablefile.NPZ     // "npz": arrays of NumPy
)

// TableFormats returns the names of all formats, sorted.
func TableFormats() []string { return tablefile.Formats() }

// Schema describes the Columns of a table, in the format of a schema file.
type Schema = tables.Schema

// SchemaColumn is a column of a Schema: its Name and Type.
type SchemaColumn = tables.SchemaColumn

// CSVSchema returns the types that CSV would give to the columns of tables, and writes nothing.
func CSVSchema(ctx context.Context, srcs []string, o CSVOptions) (*Schema, error) {
	return tables.CSVSchema(ctx, srcs, o)
}

// TableSchema returns the types that Table would give to the columns of tables, and writes nothing.
func TableSchema(ctx context.Context, srcs []string, o TableOptions) (*Schema, error) {
	return tables.TableSchema(ctx, srcs, o)
}

// ReadSchema reads a schema file. Unknown fields are an error.
func ReadSchema(ctx context.Context, path string) (*Schema, error) {
	return tables.ReadSchema(ctx, path)
}
