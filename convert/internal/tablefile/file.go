package tablefile

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// File is one of the files of a table.
type File struct {
	reader
	As       string // its path relative to the common directory of all files, with /
	FirstRow int64  // its number over all files
	// The following are set by Scan.
	scanned scanned
	fresh   *freshScan // nil if there is none to confirm
}

// take takes over the result of scan or restore, and numbers its chunks: a saved result may have other
// numbers.
func (f *File) take() {
	f.scanned = f.scannedRows()
	row := int64(0)
	for i := range f.scanned.chunks {
		c := &f.scanned.chunks[i]
		c.Index, c.FirstRow = i, row
		row += c.Rows
	}
}

// Chunks returns the chunks of the file, in order.
func (f *File) Chunks() []table.Chunk { return f.scanned.chunks }

// path is the location of the file, on this machine or in a store.
func (f *File) path() string {
	if storage.Remote(f.Name()) {
		return storage.Clean(f.Name())
	}
	abs, err := filepath.Abs(f.Name())
	if err != nil {
		return f.Name()
	}
	return abs
}

// format reads the files of a table: as CSV, whose rows are fields of text, or as typed columns.
type format interface {
	// open opens a file of the table.
	open(ctx context.Context, path string) (reader, error)
	// scanOptions identify the options that scans depend on. It is called once all files are open.
	scanOptions() (string, error)
	// merge returns the columns of all files, which were scanned.
	merge(files []*File) ([]Column, error)
	// suffixes of file names that are not part of a dataset's name, in the order they are cut off.
	suffixes() []string
	// noRows describes a file without rows.
	noRows() string
}

// reader is an open file of a table.
type reader interface {
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
	// scannedRows returns the result of scan or restore. Chunks need not be numbered.
	scannedRows() scanned
	// read reads a chunk into c.
	read(ctx context.Context, c *Chunk) error
}

// scanned are the rows that a scan has found in a file.
type scanned struct {
	rows, bytes, blank int64
	chunks             []table.Chunk
	distinct           []string // values of Options.Distinct
}

// Column is a column of all files together.
type Column struct {
	Name    string
	Kind    table.Kind // Unknown if no row has a value
	List    bool       // rows hold lists: of Length values, of different lengths if that is 0
	Length  int
	Shape   []int // of a list that is an array of several dimensions, of Length values
	Text    bool  // bytes are UTF-8
	Missing int64
	// Narrowed is set if numbers have 64 bits and may have more digits than floats hold, for columns
	// without Counts.
	Narrowed bool
	// Counts are the counts of values in a column of CSV; nil for other formats.
	Counts *csvscan.Column
	// KindNote is a note about a column that is stored as bytes although no option requests it; ""
	// for columns without surprises.
	KindNote string
}
