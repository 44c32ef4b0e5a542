package table

import (
	"context"
	"time"
)

// Kind is the kind of the values of a column in an Example.
type Kind uint8

// The kinds, as in a tf.train.Feature. Booleans are Int64, 0 or 1.
const (
	Unknown Kind = iota // no row has a value
	Int64
	Float
	Bytes
)

// String returns "int64", "float", "bytes" or "unknown".
func (k Kind) String() string {
	return [...]string{"unknown", "int64", "float", "bytes"}[k]
}

// Column is a column of a table: what becomes one feature.
type Column struct {
	// Name is the key of the feature. Members of structs and objects are named "a/b".
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// List means that rows hold lists. Length is the number of values of every row that is not
	// missing: 1 unless List, and 0 if it varies.
	List   bool `json:"list,omitempty"`
	Length int  `json:"length"`
	// Shape is the shape of each row if it has more than one dimension; its product is Length. A
	// list has the values in row-major order. Nil for others.
	Shape []int `json:"shape,omitempty"`
	// Text means that all bytes are UTF-8.
	Text bool `json:"text,omitempty"`
	// Wide means that numbers have, or may have, more digits than the 32 bits of a Float hold.
	Wide bool `json:"wide,omitempty"`
	// Missing is the number of rows without a value, which is not an empty list.
	Missing int64 `json:"missing,omitempty"`
	// Mixed is the reason why the column has no kind, if it has both numbers and text and
	// ScanOptions.Kinds does not decide: its Kind is then Unknown, and it cannot be read.
	Mixed string `json:"mixed,omitempty"`
	// Unfit is the reason why no feature can hold the values, such as maps: the Kind is then
	// Unknown, and the column cannot be read.
	Unfit string `json:"unfit,omitempty"`
}

// Narrows reports whether numbers lose, or may lose, digits as they become values of kind Float.
func (c *Column) Narrows() bool { return c.Wide && c.Kind == Float }

// Chunk is some consecutive rows of a table: what one task reads.
type Chunk struct {
	// Index is the number of the chunk in its table. What else a format needs to find it, it keeps
	// by this number in Table.Places or derives from its file.
	Index int `json:"index"`
	// FirstRow is the number of the first row in the table, from 0, and Rows how many there are.
	FirstRow int64 `json:"first_row"`
	Rows     int64 `json:"rows"`
	// FirstLine is the line of the first row, from 1; 0 in formats without lines.
	FirstLine int64 `json:"first_line,omitempty"`
	// Offset and Bytes are where the chunk is in the file, uncompressed if the whole file is
	// compressed; in a columnar format an estimate of its share.
	Offset int64 `json:"offset"`
	Bytes  int64 `json:"bytes"`
	// Hash identifies the content of the rows, or of a part of the file with them.
	Hash [16]byte `json:"hash"`
}

// Table is the result of a scan.
type Table struct {
	Columns []Column `json:"columns"`
	Chunks  []Chunk  `json:"chunks"` // all rows, in order
	Rows    int64    `json:"rows"`   // bad ones included
	Bytes   int64    `json:"bytes"`  // of the values, about
	// Blank is the number of blank lines, which are not rows.
	Blank int64 `json:"blank,omitempty"`
	// Skipped are the members that were passed over, sorted, in a format that may.
	Skipped []string `json:"skipped,omitempty"`
	// Distinct are the different values of the column that ScanOptions.Distinct names, as text,
	// sorted.
	Distinct []string `json:"distinct,omitempty"`
	// Classes are the names of the numbers of a column, from 0, if the file has them.
	Classes map[string][]string `json:"classes,omitempty"`
}

// Chunks of columns have about ChunkBytes of values, and MaxChunkRows rows at most; chunks of Arrow
// files are record batches, or parts of them. A table has MaxChunks at most.
const (
	ChunkBytes   = 8 << 20
	MaxChunkRows = 1 << 16
	MaxChunks    = 1 << 20
)

// MaxDistinct is the maximum number of different values that a scan returns; more are an error.
const MaxDistinct = 1 << 17

// ScanOptions configure a scan.
type ScanOptions struct {
	// Workers is the number of goroutines that process rows. The result is the same for any number.
	// 0: one a core.
	Workers int
	// Kinds are the kinds of columns by name, where the caller has decided. In formats without
	// types, values of other kinds make a row bad; in the others, values are converted as Kinds
	// documents in the format's package, or the column is an error.
	Kinds map[string]Kind
	// Distinct names a column whose different values are returned; "" for none.
	Distinct string
	// Wanted reports whether a column will be read. Of others, formats with a schema only return
	// the name, Kind, List and Unfit, and never read values. Default: all will.
	Wanted func(name string) bool
}

// Wants reports whether the column of a name is going to be read.
func (o *ScanOptions) Wants(name string) bool { return o.Wanted == nil || o.Wanted(name) }

// Source is an open table. It is safe for concurrent use, but for Read where InOrder is true.
type Source interface {
	// Name is the path or URL of the file. Size, ModTime and Version describe the file when it was
	// opened; Version is "" on disk.
	Name() string
	Size() int64
	ModTime() time.Time
	Version() string
	// Scan finds the columns, rows and chunks. A file that is not as its format wants it is an
	// error with the path and the place in it; bad rows, in formats that have them, are not.
	Scan(ctx context.Context, o ScanOptions) (*Table, error)
	// Read replaces the content of b with the rows of a chunk, and its columns with the given ones,
	// which are columns of the scan, or of several tables merged: columns that this table does not
	// have are missing in all rows, and integers may be requested as Float. Values may be of
	// another kind than requested only if they are Int64 for Float, or all missing. It returns
	// ErrChanged, wrapped, if the file has changed since the scan. Memory of b is reused.
	Read(ctx context.Context, c Chunk, columns []Column, b *Batch) error
	// InOrder reports whether chunks are read fastest in order, by one goroutine at a time: in a
	// compressed stream.
	InOrder() bool
	// Close releases open files.
	Close() error
}

// TextSource is a Source of a format that is text: bytes that are read in order may be decoded in
// any, by several goroutines. Read is ReadText and Decode.
type TextSource interface {
	Source
	// ReadText reads a chunk into the capacity of buf, or into a larger buffer, and returns it.
	ReadText(ctx context.Context, buf []byte, c Chunk) ([]byte, error)
	// Decode is Read for a chunk that ReadText returned.
	Decode(text []byte, c Chunk, columns []Column, b *Batch) error
}
