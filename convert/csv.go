package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/shares"
)

// CSVOptions configure how tables become records. The zero value takes the names from the header
// and infers the types from all values of the input.
type CSVOptions struct {
	Options

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
	// Missing says how to handle missing values. Default: MissingDrop.
	Missing MissingPolicy
	// MissingValues are the spellings of a missing value. Default (nil): the
	// empty field, NA, N/A, NULL and null.
	MissingValues []string

	// Vectors pack columns into one feature each.
	Vectors []Vector
	// Label is the column with the label. Default: none.
	Label string
	// Vocab maps label texts to ids: the indexes of the sorted values, or of Vocabulary if that is
	// given. Values that are all integers sort as numbers, so that 0 to N-1 map to themselves.
	Vocab bool
	// Vocabulary names the labels in id order.
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

// ParseColumnType parses "int64", "float" or "bytes".
func ParseColumnType(s string) (ColumnType, error) {
	if t := ColumnType(s); t == TypeInt64 || t == TypeFloat || t == TypeBytes {
		return t, nil
	}
	return "", fmt.Errorf("type %q: want int64, float or bytes", s)
}

// MissingPolicy says how to handle missing values.
type MissingPolicy string

// The policies for missing values.
const (
	// MissingDrop omits the feature from the record. A vector with a missing value is omitted as a
	// whole.
	MissingDrop MissingPolicy = "drop-feature"
	// MissingDefault stores 0 or the empty string; for a label with a vocabulary -1, TFDS's unknown
	// label.
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

// CSV converts the tables that srcs name, files or globs, into a set in the directory out. They are
// read in the given order, those of a glob in the order of their names, and must have the same
// columns.
func CSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Summary, error) {
	return runConversion(ctx, &csvInput{o: &o, srcs: srcs}, out)
}

// csvInput is the tables of a conversion.
type csvInput struct {
	o       *CSVOptions
	srcs    []string
	tables  *tables // nil before scan
	columns *csvColumns
	source  *csvSource // nil before plan
}

func (in *csvInput) shared() *Options { return &in.o.Options }

// scan finds the row boundaries and determines the columns.
func (in *csvInput) scan(ctx context.Context, out string) (err error) {
	if in.tables, err = in.o.open(ctx, in.srcs); err != nil {
		return err
	}
	if err := in.tables.scan(ctx, in.o, out); err != nil {
		return err
	}
	in.columns, err = in.o.resolve(in.tables)
	return err
}

func (in *csvInput) plan(ctx context.Context, before *previous) (source, error) {
	var err error
	if in.source, err = planCSV(ctx, in.o, in.tables, in.columns, before); err != nil {
		return nil, err
	}
	return in.source, nil
}

func (in *csvInput) close() {
	if in.source != nil {
		in.source.close()
	}
	if in.tables != nil {
		in.tables.close()
	}
}

// open checks the options, fills in defaults and opens the sources.
func (o *CSVOptions) open(ctx context.Context, srcs []string) (*tables, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	t, err := openTables(ctx, srcs, o)
	if err != nil {
		return nil, err
	}
	o.Name = cmp.Or(o.Name, t.name())
	if err := o.check(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// complete fills in defaults and returns an error for invalid options.
func (o *CSVOptions) complete() error {
	o.Missing = cmp.Or(o.Missing, MissingDrop)
	o.Memory = cmp.Or(o.Memory, 512<<20)
	o.MaxRow = cmp.Or(o.MaxRow, csvscan.DefaultMaxRow)
	if o.MissingValues == nil {
		o.MissingValues = csvscan.DefaultMissing
	}
	switch {
	case o.Missing != MissingDrop && o.Missing != MissingDefault && o.Missing != MissingError:
		return optionError("CSVOptions.Missing", "%q: want drop-feature, default or error", o.Missing)
	case o.Vocab && o.Label == "":
		return optionError("CSVOptions.Vocab", "needs CSVOptions.Label: the column to map")
	case o.LabelOffset != 0 && !o.Vocab:
		return optionError("CSVOptions.LabelOffset", "needs CSVOptions.Label and CSVOptions.Vocab")
	case o.LabelOffset < 0 || o.LabelOffset > 1<<20:
		return optionError("CSVOptions.LabelOffset", "%d is not between 0 and %d", o.LabelOffset, 1<<20)
	case strings.IndexByte("\"\r\n", o.Delimiter) >= 0:
		return optionError("CSVOptions.Delimiter", "%q is a quote or ends a row", o.Delimiter)
	case o.NoHeader && len(o.Columns) == 0:
		return optionError("CSVOptions.NoHeader", "the columns need names: CSVOptions.Columns")
	case o.MaxRow < csvscan.ChunkSize || o.MaxRow > 1<<30:
		return optionError("CSVOptions.MaxRow", "%d bytes: want 1 MiB to 1 GiB", o.MaxRow)
	case o.Memory < 16<<20:
		return optionError("CSVOptions.Memory", "%d bytes: want 16 MiB or more", o.Memory)
	}
	var splits []string
	for _, share := range o.splits() {
		splits = append(splits, share.Name)
	}
	if err := o.checkShardsOf(splits); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range o.Vocabulary {
		if seen[name] {
			return optionError("CSVOptions.Vocab", "%q is named twice", name)
		}
		seen[name] = true
	}
	return nil
}

// effective returns the options that the bytes depend on, by flag name. What follows from the
// input, such as inferred types, is not included but is part of the identity of the rows: when the
// input changes, the set is out of date, but its options are the same.
func (o *CSVOptions) effective(s *csvSource) map[string]any {
	delimiter := "auto"
	if o.Delimiter != 0 {
		delimiter = string(rune(o.Delimiter))
	}
	types := make([]string, 0, len(o.Types))
	for name, t := range o.Types {
		types = append(types, name+"="+string(t))
	}
	slices.Sort(types)
	m := map[string]any{
		"source": "csv", optionSplits: shares.FormatSplits(o.splits()),
		"compression": compressionName(o.Compression), "limit": o.Limit, "seed": o.Seed,
		"delimiter": delimiter, "no_header": o.NoHeader, "columns": o.Columns, "column": types,
		"na": o.Missing, "na_values": o.MissingValues, "vector": o.Vectors, "label": o.Label, "vocab": o.Vocab,
		"label_offset": o.LabelOffset, "key": o.Key, "shuffle": o.Shuffle, "even": o.Even && o.Shuffle,
	}
	o.setShards(m, s.planned)
	return m
}

// csvKind is the input kind of tables: the fields that set the options of effective.
var csvKind = kind{fields: map[string]string{
	"delimiter": "CSVOptions.Delimiter", "no_header": "CSVOptions.NoHeader", "columns": "CSVOptions.Columns", "column": "CSVOptions.Types",
	"na": "CSVOptions.Missing", "na_values": "CSVOptions.MissingValues", "vector": "CSVOptions.Vectors",
	"label": "CSVOptions.Label", "vocab": "CSVOptions.Vocab", "label_offset": "CSVOptions.LabelOffset",
	"key": "CSVOptions.Key", "shuffle": "CSVOptions.Shuffle",
}, text: vectorsText}

// vectorsText formats vectors for ParseVector, if the option value is one.
func vectorsText(raw json.RawMessage) (string, bool) {
	var vectors []Vector
	if json.Unmarshal(raw, &vectors) != nil {
		return "", false
	}
	var list []string
	for _, v := range vectors {
		list = append(list, v.Name+"="+strings.Join(v.Columns, ","))
	}
	return strings.Join(list, " "), true
}
