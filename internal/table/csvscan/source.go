package csvscan

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/textfile"
)

// Options configure the reading of a table.
type Options struct {
	// Decoder reads files that are not UTF-8 nor another encoding that contains ASCII. Default: none.
	Decoder *textfile.Decoder
	// Delimiter separates fields; 0 infers it from the first lines.
	Delimiter byte
	// NoHeader means that the first row is a row like all others.
	NoHeader bool
	// Columns are the names of all columns. They replace those in the header.
	// Without either, rows may have any number of fields.
	Columns []string
	// MaxRow is the length in bytes of the longest row that is accepted: from
	// ChunkSize to 1 GiB, by default (0) 64 MiB.
	MaxRow int64
	// Comment reports whether a line before the first row, without its end, is a comment,
	// which is skipped. Default: none is.
	Comment func(line []byte) bool
}

// DefaultMaxRow is the default of Options.MaxRow.
const DefaultMaxRow = 64 << 20

// sampleSize is the size of the start of a table from which its dialect is inferred.
const sampleSize = 128 << 10

// Source is a table that was opened. It keeps no file open between calls but one that ReadChunk
// reads in order, so that there may be any number of Sources. Objects in a store are read in the
// version that was opened. Its methods are safe for concurrent use, but see ReadChunk.
type Source struct {
	*textfile.File
	dialect   Dialect
	header    []string
	start     int64 // offset of the first row
	startLine int64
	comments  int64 // lines before start
	maxRow    int
}

// Open opens the table at path: a plain file, or one compressed with gzip or zstd, which is
// detected by its first bytes and not by its name. Errors name the file; those about its content
// are an *Error.
func Open(ctx context.Context, path string, opts Options) (*Source, error) {
	d := Dialect{Delimiter: opts.Delimiter}
	if d.Delimiter != 0 && !d.valid() {
		return nil, fmt.Errorf("%q can't be a delimiter: it is a quote or ends a row", d.Delimiter)
	}
	if opts.MaxRow == 0 {
		opts.MaxRow = DefaultMaxRow
	}
	if opts.MaxRow < ChunkSize || opts.MaxRow > 1<<30 {
		return nil, fmt.Errorf("longest row of %d bytes: want %d to %d", opts.MaxRow, ChunkSize, 1<<30)
	}
	f, err := textfile.OpenEncoded(ctx, path, opts.Decoder)
	if err != nil {
		return nil, err
	}
	s := &Source{File: f, dialect: d, maxRow: int(opts.MaxRow)}
	if err := s.open(ctx, opts); err != nil {
		return nil, s.located(err, 0)
	}
	return s, nil
}

// located puts the name into err, and adds lines to its line.
func (s *Source) located(err error, lines int64) error {
	var e *Error
	if errors.As(err, &e) {
		return &Error{Name: s.Name(), Line: e.Line + lines, Err: e.Err}
	}
	return &Error{Name: s.Name(), Err: err}
}

func (s *Source) open(ctx context.Context, opts Options) error {
	in, err := s.Stream(ctx)
	if err != nil {
		return err
	}
	defer in.Close()

	rows := bufio.NewReaderSize(in, sampleSize)
	sample, err := rows.Peek(sampleSize)
	if err != nil && err != io.EOF {
		return err
	}
	if err := refuse(sample); err != nil {
		return err
	}
	bom, err := checkEncoding(sample, s.Name())
	if err != nil {
		return err
	}
	if bom == len(sample) {
		return ErrEmpty
	}
	if _, err := rows.Discard(bom); err != nil {
		return err
	}
	blank, lines, err := skipBlank(rows, s.maxRow)
	if err != nil {
		return err
	}
	for opts.Comment != nil {
		n, err := skipComment(rows, opts.Comment)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		more, empty, err := skipBlank(rows, s.maxRow)
		if err != nil {
			return err
		}
		s.comments++
		blank, lines = blank+n+more, lines+1+empty
	}
	if sample, err = rows.Peek(sampleSize); err != nil && err != io.EOF {
		return err
	}
	if err := refuse(sample); err != nil {
		return err
	}
	if kind := jsontext.Kind(sample, err == io.EOF); kind != "" && opts.Columns == nil {
		return fmt.Errorf("%w but %s: %s takes JSON lines", ErrFormat, kind, optname.ConvertTable)
	}
	if isPickle(sample, err == io.EOF) && opts.Columns == nil {
		return fmt.Errorf("%w but %s", ErrFormat, pickled)
	}
	if s.dialect.Delimiter == 0 {
		s.dialect.Delimiter = sniff(sample, err == io.EOF)
	}

	if err := refuseControl(sample, s.dialect.Delimiter); err != nil {
		return err
	}

	s.start, s.startLine = int64(bom), 1
	if s.comments > 0 {
		s.start, s.startLine = s.start+blank, 1+lines
	}
	if !opts.NoHeader {
		c := &chunker{r: rows, delim: s.dialect.Delimiter, size: 1, maxRow: s.maxRow, offset: int64(bom) + blank}
		s.header, s.start, s.startLine, err = readHeader(c, 1+lines)
		if err != nil {
			return err
		}
	}
	if n := len(s.header); n > 1 && s.header[n-1] == "" && len(opts.Columns) != n {
		s.header, s.dialect.Trailing = s.header[:n-1], true
	}
	nameIndex(s.header)
	if opts.Columns != nil {
		if s.header != nil && len(s.header) != len(opts.Columns) {
			return fmt.Errorf("%w: %s, but %s names %d", ErrHeader, plural.Of(len(s.header), "column"), optname.CSVOptionsColumns, len(opts.Columns))
		}
		s.header = slices.Clone(opts.Columns)
	}
	return checkNames(s.header)
}

// Dialect is the dialect, with the delimiter that was given or found.
func (s *Source) Dialect() Dialect { return s.dialect }

// Header returns the names of the columns: all different, none empty. A first column
// without a name is [IndexName] if it is the only one. It is nil where there are none. The slice is
// the Source's own.
func (s *Source) Header() []string { return s.header }

// Comments returns the number of lines that Options.Comment skipped.
func (s *Source) Comments() int64 { return s.comments }

// ReadChunk reads a chunk that Scan found into the capacity of buf, or into a
// larger buffer, and returns it. It fails with ErrChanged when the bytes aren't
// those that Scan saw. A plain file can be read by many goroutines at once and
// in any order; a compressed one is read by one at a time, and from its start
// again for a chunk before the last one read.
func (s *Source) ReadChunk(ctx context.Context, buf []byte, c Chunk) ([]byte, error) {
	if c.Len < 0 || c.Len > int64(ChunkSize+s.maxRow) || c.Offset < 0 {
		return nil, s.located(ErrChanged, 0)
	}
	buf = slices.Grow(buf[:0], int(c.Len))[:c.Len]
	err := s.ReadRange(ctx, buf, c.Offset)
	if err == textfile.ErrShort || err == nil && hashOf(buf) != c.Hash {
		err = ErrChanged
	}
	if err != nil {
		return nil, s.located(err, 0)
	}
	return buf, nil
}
