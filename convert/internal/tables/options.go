package tables

import (
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// CSVOptions configure how tables become records. The zero value takes the names from the header
// and infers the types from all values of the input.
type CSVOptions struct {
	plan.Options

	// Encoding of the files of CSV, by a name of WHATWG's Encoding Standard, such as latin1, cp1252,
	// shift_jis or gbk; records have UTF-8. Default: bytes as they are, but UTF-16 with its byte order
	// mark is recognized.
	Encoding string
	// Delimiter between fields. Default: detected from the first lines of each file.
	Delimiter byte
	// NoHeader means that the first row is data; Columns must then name the columns.
	NoHeader bool
	// Columns names all columns, instead of the header.
	Columns []string
	// MaxRow is the maximum length of a row in bytes. Default: 64 MiB.
	MaxRow int64

	// Types of columns by name. Default: int64 when all values of the column
	// are integers, float when all are numbers, bytes otherwise.
	Types map[string]ColumnType
	// Missing is the treatment of missing values. Default: MissingDrop.
	Missing MissingPolicy
	// MissingValues are the spellings of a missing value. Default (nil): the
	// empty field, NA, N/A, NULL and null; but all but the empty one are names of labels with Vocab,
	// unless all other labels are integers.
	MissingValues []string

	// Drop names columns that are left out, and objects or structs with all of their members. Their
	// values may be anything.
	Drop []string
	// Vectors pack columns into one feature each.
	Vectors []Vector
	// Label is the column with the label. A row without one is a bad sample, unless Missing is
	// MissingDefault. Default: none.
	Label string
	// Vocab maps labels to ids: the indexes of the sorted values, or of Vocabulary if that is given.
	// Values that are all integers, such as 3 or 3.0, are ids as they are; ids between them are named
	// by their numbers, and if one is negative or above 1,000,000 they have no names.
	Vocab bool
	// Vocabulary names the labels in id order. Integers that are not such names are ids.
	Vocabulary []string
	// LabelOffset is the number of background names to put before the labels.
	LabelOffset int
	// Key is the column that identifies a row in the ledger. Default: file and line.
	Key string

	// Shuffle puts the rows of a split into a random order, across all of its shards. Default: the
	// order of the input.
	Shuffle bool
	// Memory that Shuffle may use, in bytes; beyond it, it uses disk space in the output directory.
	// Default: 512 MiB.
	Memory int64
}

// ColumnType is the type of a column's values in an Example.
type ColumnType string

// The types of columns.
const (
	TypeInt64 ColumnType = "int64"
	TypeFloat ColumnType = "float" // 32 bits, like every float of an Example
	TypeBytes ColumnType = "bytes" // the text, unchanged
)

// ParseColumnType parses a type: "int64", "float" or "bytes", "bool", "date", "time" or "number", or one of
// these with a layout, such as "date:02.01.2006".
func ParseColumnType(s string) (ColumnType, error) {
	t := ColumnType(s)
	if t == TypeInt64 || t == TypeFloat || t == TypeBytes {
		return t, nil
	}
	rule, err := t.rule()
	switch {
	case err != nil:
		return "", err
	case rule == nil:
		return "", fmt.Errorf("type %q: want int64, float, bytes, bool, date, time or number", s)
	}
	return t, nil
}

// MissingPolicy is a treatment of missing values.
type MissingPolicy string

// The policies for missing values.
const (
	// MissingDrop omits the feature from the record. A vector with a missing value is omitted as a
	// whole.
	MissingDrop MissingPolicy = "drop-feature"
	// MissingDefault stores 0 or the empty string; for a label with Vocab -1, TFDS's unknown
	// label; for lists that are all of one length as many zeros, and for others none.
	MissingDefault MissingPolicy = "default"
	// MissingError makes the row a bad sample.
	MissingError MissingPolicy = "error"
)

// Vector packs columns into one feature.
type Vector struct {
	Name string
	// Columns names them in order; FIRST..LAST means the range from one to the other, in the order
	// of the input.
	Columns []string
}

// ParseVector parses "NAME=FIRST..LAST" or "NAME=A,B,C".
func ParseVector(s string) (Vector, error) {
	name, columns, ok := strings.Cut(s, "=")
	if !ok || name == "" || columns == "" {
		return Vector{}, fmt.Errorf("%q: want NAME=FIRST..LAST or NAME=A,B,C", s)
	}
	return Vector{Name: name, Columns: strings.Split(columns, ",")}, nil
}
