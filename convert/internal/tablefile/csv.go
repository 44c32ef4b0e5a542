package tablefile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/textfile"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// csvFormat reads CSV files.
type csvFormat struct {
	o       *Options
	missing *csvscan.Missing
	given   bool // Options.MissingValues are not the default
	scans   csvscan.ScanOptions
	first   *csvscan.Source // nil before open
}

func newCSVFormat(o *Options) *csvFormat {
	given := o.MissingValues != nil
	if !given {
		o.MissingValues = csvscan.DefaultMissing
	}
	return &csvFormat{o: o, missing: csvscan.NewMissing(o.MissingValues), given: given}
}

func (c *csvFormat) open(ctx context.Context, path string) (reader, error) {
	o := c.o
	src, err := csvscan.Open(ctx, path, csvscan.Options{Decoder: o.Encoding.Decoder(), Delimiter: o.Delimiter, NoHeader: o.NoHeader, Columns: o.Columns, MaxRow: o.MaxRow})
	if errors.Is(err, csvscan.ErrFormat) && isRecords(ctx, path) {
		return nil, fmt.Errorf("%s: %w but TFRecords: the verbs for sets take them, and %s takes those with images", path, csvscan.ErrFormat, optname.ConvertImages)
	}
	if err != nil {
		return nil, err
	}
	if c.first == nil {
		c.first = src
	}
	return &csvFile{Source: src, format: c}, sameHeader(c.first, src)
}

// isRecords reports whether a file, compressed or not, begins with a record of a TFRecord.
func isRecords(ctx context.Context, path string) bool {
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return false
	}
	in, err := f.Stream(ctx)
	if err != nil {
		return false
	}
	defer in.Close()
	header := make([]byte, tfrecord.HeaderSize)
	_, err = io.ReadFull(in, header)
	_, frame := tfrecord.Framing{MaxRecord: 1 << 62}.Check(header)
	return err == nil && frame != tfrecord.FrameBroken
}

// sameHeader returns an error if the columns of two tables differ.
func sameHeader(a, b *csvscan.Source) error {
	x, y := a.Header(), b.Header()
	if slices.Equal(x, y) {
		return nil
	}
	if len(x) != len(y) {
		return fmt.Errorf("%s has %s, %s has %d: all tables of a set need the same", a.Name(), plural.Of(len(x), "column"), b.Name(), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			return fmt.Errorf("column %d is %q in %s and %q in %s: all tables of a set need the same; %s gives other names", i+1, x[i], a.Name(), y[i], b.Name(), optname.CSVOptionsColumns)
		}
	}
	return nil
}

func (c *csvFormat) suffixes() []string { return []string{".gz", ".zst", ".csv", ".tsv", ".txt"} }

func (c *csvFormat) noRows() string { return "a header and no rows" }

func (c *csvFormat) scanOptions() (string, error) {
	o := c.o
	c.scans = csvscan.ScanOptions{Workers: o.Workers, Missing: c.missing}
	if o.Distinct != "" {
		column, err := ColumnNumber(optname.CSVOptionsLabel, o.Distinct, c.first.Header())
		if err != nil {
			return "", err
		}
		c.scans.Distinct = []int{column}
	}
	return fmt.Sprintf("5 %v %q %v %q %d %q %v", o.Encoding, o.Delimiter, o.NoHeader, o.Columns, o.MaxRow, o.MissingValues, c.scans.Distinct), nil
}

func (c *csvFormat) merge(files []*File) ([]Column, error) {
	header := c.first.Header()
	counts := make([]csvscan.Column, len(header))
	columns := make([]Column, len(header))
	for _, f := range files {
		for i := range counts {
			counts[i].Merge(&f.reader.(*csvFile).table.Columns[i])
		}
	}
	for i, name := range header {
		n := &counts[i]
		columns[i] = Column{Name: name, Length: 1, Text: n.Foreign == 0, Missing: n.Missing, KindNote: n.KindNote(name), Counts: n}
		kind := kindOfCSV[n.Kind()]
		if n.Ints+n.Floats+n.Texts+n.Padded > 0 {
			columns[i].Kind = kind
		}
		if cmp.Or(c.o.Kinds[name], kind) != table.Bytes {
			columns[i].Missing += n.Padded
		}
	}
	return columns, nil
}

// kindOfCSV maps the kinds of columns of CSV.
var kindOfCSV = map[csvscan.Kind]table.Kind{csvscan.KindInt64: table.Int64, csvscan.KindFloat: table.Float, csvscan.KindBytes: table.Bytes}

// csvFile is an open CSV file.
type csvFile struct {
	*csvscan.Source
	format *csvFormat
	table  *csvscan.Table
}

func (f *csvFile) scan(ctx context.Context) (result json.RawMessage, err error) {
	if f.table, err = f.Source.Scan(ctx, f.format.scans); err != nil {
		return nil, err
	}
	return json.Marshal(f.table)
}

func (f *csvFile) restore(result json.RawMessage) bool {
	t := new(csvscan.Table)
	if json.Unmarshal(result, t) != nil || len(t.Columns) != len(f.Header()) || len(t.Distinct) != len(f.format.scans.Distinct) {
		return false
	}
	f.table = t
	return true
}

func (f *csvFile) scannedRows() scanned {
	t := f.table
	s := scanned{rows: t.Rows, bytes: t.Bytes, blank: t.Blank, chunks: make([]table.Chunk, len(t.Chunks))}
	for i, c := range t.Chunks {
		s.chunks[i] = table.Chunk{Rows: c.Rows, FirstLine: c.FirstLine, Offset: c.Offset, Bytes: c.Len, Hash: c.Hash}
	}
	if len(t.Distinct) > 0 {
		s.distinct = t.Distinct[0]
	}
	return s
}

func (f *csvFile) read(ctx context.Context, c *Chunk) error {
	return c.readText(func(buffer []byte) ([]byte, error) { return f.ReadChunk(ctx, buffer, f.table.Chunks[c.Index]) })
}
