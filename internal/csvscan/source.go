package csvscan

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/storage"
)

// Options say how to read a table.
type Options struct {
	// Delimiter separates fields; 0 infers it from the first lines.
	Delimiter byte
	// NoHeader says that the first row is a row like all others.
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

// sampleSize is how much of a table's start is looked at for its dialect.
const sampleSize = 128 << 10

// Source is a table that was opened. It keeps no file open between calls but one that ReadChunk
// reads in order, so that any number of Sources can be at hand. What is in an object store is read
// in the version that was opened. Its methods are safe for concurrent use, but see ReadChunk.
type Source struct {
	at          storage.Location
	size        int64
	modTime     time.Time
	object      storage.Object // what it is in an object store; without a version on a disk
	compression Compression
	dialect     Dialect
	header      []string
	start       int64 // offset of the first row
	startLine   int64
	comments    int64 // lines before start
	maxRow      int

	mu     sync.Mutex   // guards the fields below
	plain  storage.File // of an object that is not compressed; nil before it is needed
	stream *stream      // of a compressed file; nil before it is needed
	offset int64        // of stream
	last   []byte       // what was read last from stream
}

// Open opens the table at path: a plain file, or one compressed with gzip or
// zstd, which its first bytes tell and not its name. Errors name the file;
// those about its content are an *Error.
func Open(ctx context.Context, path string, opts Options) (*Source, error) {
	d := Dialect{opts.Delimiter}
	if d.Delimiter != 0 && !d.valid() {
		return nil, fmt.Errorf("%q can't be a delimiter: it is a quote or ends a row", d.Delimiter)
	}
	if opts.MaxRow == 0 {
		opts.MaxRow = DefaultMaxRow
	}
	if opts.MaxRow < ChunkSize || opts.MaxRow > 1<<30 {
		return nil, fmt.Errorf("longest row of %d bytes: want %d to %d", opts.MaxRow, ChunkSize, 1<<30)
	}
	at := storage.Parse(path)
	f, err := at.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Source{at: at, dialect: d, maxRow: int(opts.MaxRow)}
	if err := s.open(ctx, f, opts); err != nil {
		return nil, s.located(err, 0)
	}
	return s, nil
}

// located puts the name into err, and adds lines to its line.
func (s *Source) located(err error, lines int64) error {
	var e *Error
	if errors.As(err, &e) {
		return &Error{Name: s.at.Path(), Line: e.Line + lines, Err: e.Err}
	}
	return &Error{Name: s.at.Path(), Err: err}
}

func (s *Source) open(ctx context.Context, f storage.File, opts Options) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	s.size, s.modTime = info.Size(), info.ModTime()
	s.object, _ = info.Sys().(storage.Object)
	head := make([]byte, 16)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if s.compression, err = detect(head[:n]); err != nil {
		return err
	}
	in, err := s.openStream(ctx)
	if err != nil {
		return err
	}
	defer in.close()

	rows := bufio.NewReaderSize(in, sampleSize)
	sample, err := rows.Peek(sampleSize)
	if err != nil && err != io.EOF {
		return err
	}
	bom, err := checkEncoding(sample, s.at.Path())
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
	if kind := jsontext.Kind(sample, err == io.EOF); kind != "" && opts.Columns == nil {
		return fmt.Errorf("%w but %s: write it as CSV first", ErrFormat, kind)
	}
	if s.dialect.Delimiter == 0 {
		s.dialect.Delimiter = sniff(sample, err == io.EOF)
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
	if opts.Columns != nil {
		if s.header != nil && len(s.header) != len(opts.Columns) {
			return fmt.Errorf("%w: %s, but CSVOptions.Columns names %d", ErrHeader, plural.Of(len(s.header), "column"), len(opts.Columns))
		}
		s.header = slices.Clone(opts.Columns)
	}
	return checkNames(s.header)
}

// Name is the path that the table was opened by.
func (s *Source) Name() string { return s.at.Path() }

// Size is the size of the file in bytes, as it is stored.
func (s *Source) Size() int64 { return s.size }

// ModTime is when the file was last changed before it was opened.
func (s *Source) ModTime() time.Time { return s.modTime }

// Version identifies the contents of an object in a store, together with its URL; empty for a file.
func (s *Source) Version() string { return s.object.Version }

// InOrder reports whether ReadChunk is to be called by one goroutine, for one chunk after another:
// then what follows of a compressed file is at hand, and of an object in a store on its way.
func (s *Source) InOrder() bool { return s.compression != None || s.object.Version != "" }

// Compression is what the file is compressed with.
func (s *Source) Compression() Compression { return s.compression }

// Dialect is the dialect, with the delimiter that was given or found.
func (s *Source) Dialect() Dialect { return s.dialect }

// Header returns the names of the columns: all different, none empty. It is nil
// where there are none. The slice is the Source's own.
func (s *Source) Header() []string { return s.header }

// Comments is how many lines Options.Comment skipped.
func (s *Source) Comments() int64 { return s.comments }

// Close gives back what ReadChunk keeps of a table. The Source can be used on; it
// then begins again at the start of the file.
func (s *Source) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeStream()
	if s.plain != nil {
		s.plain.Close()
		s.plain = nil
	}
}

func (s *Source) closeStream() {
	if s.stream != nil {
		s.stream.close()
		s.stream, s.last = nil, nil
	}
}

// reopen opens the file again.
func (s *Source) reopen(ctx context.Context) (storage.File, error) {
	if s.object.Version != "" {
		return s.at.OpenListed(ctx, s.object)
	}
	return s.at.Open(ctx)
}

// openStream reads the uncompressed content from its start, until ctx is done.
func (s *Source) openStream(ctx context.Context) (*stream, error) {
	f, err := s.reopen(ctx)
	if err != nil {
		return nil, err
	}
	return s.newStream(f)
}

// newStream reads the uncompressed content of f, which it closes.
func (s *Source) newStream(f storage.File) (*stream, error) {
	in, err := newStream(f, s.compression)
	if err != nil {
		f.Close()
		return nil, err
	}
	free := in.close
	in.file = f
	in.close = func() {
		free()
		f.Close()
	}
	return in, nil
}

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
	var err error
	if s.compression == None {
		err = s.readPlain(ctx, buf, c.Offset)
	} else {
		err = s.readStream(ctx, buf, c.Offset)
	}
	switch {
	case err == io.EOF || err == errShort:
		err = ErrChanged
	case err == nil && hashOf(buf) != c.Hash:
		err = ErrChanged
	}
	if err != nil {
		return nil, s.located(err, 0)
	}
	return buf, nil
}

// readPlain reads from a plain file.
func (s *Source) readPlain(ctx context.Context, buf []byte, offset int64) error {
	if s.InOrder() {
		return s.readObject(ctx, buf, offset)
	}
	f, err := s.reopen(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(buf, offset)
	return err
}

// readObject reads from a plain object, which stays open, so that what follows is
// asked for ahead.
func (s *Source) readObject(ctx context.Context, buf []byte, offset int64) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		// It stays open for calls with other contexts; readsUntil ends the reads of this one.
		if s.plain, err = s.reopen(context.WithoutCancel(ctx)); err != nil {
			s.plain = nil
			return err
		}
	}
	defer readsUntil(ctx, s.plain, &err, func() {
		s.plain.Close()
		s.plain = nil
	})()
	if _, err := s.plain.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.ReadFull(s.plain, buf)
	return err
}

// readsUntil ends reads of f when ctx is done. The function that it returns is called
// after them: if ctx was done by then, f is of no use to later calls, so drop is called
// and the error is that of ctx.
func readsUntil(ctx context.Context, f storage.File, err *error, drop func()) (after func()) {
	stop := context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			return
		}
		drop()
		*err = context.Cause(ctx)
	}
}

// startStream begins to read a compressed file.
func (s *Source) startStream(ctx context.Context) (err error) {
	f, err := s.reopen(context.WithoutCancel(ctx)) // it stays open, as in readObject
	if err != nil {
		return err
	}
	defer readsUntil(ctx, f, &err, s.closeStream)()
	in, err := s.newStream(f)
	if err != nil {
		return err
	}
	s.stream, s.offset = in, 0
	return nil
}

// readStream reads from a compressed file.
func (s *Source) readStream(ctx context.Context, buf []byte, offset int64) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil && offset == s.offset-int64(len(s.last)) && len(buf) == len(s.last) {
		copy(buf, s.last)
		return nil
	}
	s.last = s.last[:0]
	if s.offset > offset {
		s.closeStream()
	}
	if s.stream == nil {
		if err := s.startStream(ctx); err != nil {
			return err
		}
	}
	defer readsUntil(ctx, s.stream.file, &err, s.closeStream)()
	n, err := io.CopyN(io.Discard, s.stream, offset-s.offset)
	s.offset += n
	if err != nil {
		return err
	}
	got, err := io.ReadFull(s.stream, buf)
	s.offset += int64(got)
	s.last = append(s.last, buf[:got]...)
	return err
}
