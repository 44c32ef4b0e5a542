package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/textfile"
	"github.com/tfrec/tfrec/internal/table"
)

// Options configure the reading of a table.
type Options struct {
	// MaxRow is the length in bytes of the longest row that is not bad: from ChunkSize to 1 GiB, by
	// default (0) 64 MiB.
	MaxRow int64
	// Skip reports whether a member is passed over, whatever it holds: one named a/b of the member b
	// in the object a. Table.Skipped names those that there were. Default: none is.
	Skip func(name string) bool
}

const defaultMaxRow = 64 << 20

// Source is an open table of JSON lines. It implements table.TextSource.
type Source struct {
	*textfile.File
	start    int64 // offset of the first row, after a byte order mark
	maxRow   int
	skip     func(name string) bool
	decoders sync.Pool // of *decoder
}

// Open opens the table at path. Errors name the file.
func Open(ctx context.Context, path string, o Options) (*Source, error) {
	if o.MaxRow == 0 {
		o.MaxRow = defaultMaxRow
	}
	if o.MaxRow < ChunkSize || o.MaxRow > 1<<30 {
		return nil, fmt.Errorf("longest row of %d bytes: want %d to %d", o.MaxRow, ChunkSize, 1<<30)
	}
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &Source{File: f, maxRow: int(o.MaxRow), skip: o.Skip}
	in, err := f.Stream(ctx)
	if err != nil {
		return nil, s.located(err)
	}
	defer in.Close()
	head := make([]byte, len(byteOrderMark))
	if n, err := io.ReadFull(in, head); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, s.located(err)
	} else if bytes.Equal(head[:n], byteOrderMark) {
		s.start = int64(n)
	}
	return s, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// located adds the name of the file to an error about its content.
func (s *Source) located(err error) error { return fmt.Errorf("%s: %w", s.Name(), err) }

// ReadText implements table.TextSource. The text of a row that is too long is empty.
func (s *Source) ReadText(ctx context.Context, buf []byte, c table.Chunk) ([]byte, error) {
	if c.Bytes < 0 || c.Offset < 0 {
		return nil, s.located(table.ErrChanged)
	}
	if s.tooLong(c) {
		return buf[:0], nil
	}
	buf = slices.Grow(buf[:0], int(c.Bytes))[:c.Bytes]
	err := s.ReadRange(ctx, buf, c.Offset)
	if errors.Is(err, textfile.ErrShort) || err == nil && xxh3.Hash128(buf).Bytes() != c.Hash {
		err = table.ErrChanged
	}
	if err != nil {
		return nil, s.located(err)
	}
	return buf, nil
}

// tooLong reports whether a chunk is a row that is too long.
func (s *Source) tooLong(c table.Chunk) bool { return c.Bytes > int64(s.maxRow+ChunkSize) }

// decodedAlike reports whether a decoder of column a is one of b.
func decodedAlike(a, b table.Column) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.List == b.List
}

// Decode implements table.TextSource.
func (s *Source) Decode(text []byte, c table.Chunk, columns []table.Column, b *table.Batch) error {
	d, ok := s.decoders.Get().(*decoder)
	if !ok || !slices.EqualFunc(d.columns, columns, decodedAlike) {
		d = newDecoder(columns, s.maxRow, s.skip)
	}
	defer s.decoders.Put(d)
	if s.tooLong(c) {
		d.reset(b)
		d.endRow(c.FirstLine, tooLong(s.maxRow))
		d.end()
	} else {
		d.decode(text, c.FirstLine, b)
	}
	return nil
}

// Read implements table.Source.
func (s *Source) Read(ctx context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	text, err := s.ReadText(ctx, nil, c)
	if err != nil {
		return err
	}
	return s.Decode(text, c, columns, b)
}

func tooLong(maxRow int) string {
	return fmt.Sprintf("row too long: more than %d bytes; %s raises the limit", maxRow, optname.CSVOptionsMaxRow)
}
