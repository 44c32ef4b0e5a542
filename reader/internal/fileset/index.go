package fileset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
	"golang.org/x/sync/errgroup"
)

// indexMemory bounds the memory for the offsets of all records of a set. For larger sets only every
// second offset is kept, or every fourth, and so on.
const indexMemory = 64 << 20

// FileIndex locates the records of a file.
type FileIndex struct {
	Records int64
	Stride  int64   // a power of two
	Offsets []int64 // of the frames of records 0, stride, 2·stride …; none for a sequential file
	Size    int64   // where the last record ends
	plain   bool
}

// Add adds the next record.
func (x *FileIndex) Add(offset int64, most int) {
	if x.Records%x.Stride == 0 {
		if len(x.Offsets) >= most {
			for i := range x.Offsets[:(len(x.Offsets)+1)/2] {
				x.Offsets[i] = x.Offsets[2*i]
			}
			x.Offsets = x.Offsets[:(len(x.Offsets)+1)/2]
			x.Stride *= 2
		}
		if x.Records%x.Stride == 0 {
			x.Offsets = append(x.Offsets, offset)
		}
	}
	x.Records++
}

// span returns where to look for record n: its frame is in the bytes from begin to end, after skip
// others.
func (x *FileIndex) span(n int64) (begin, end, skip int64) {
	i := n / x.Stride
	end = x.Size
	if int(i)+1 < len(x.Offsets) {
		end = x.Offsets[i+1]
	}
	return x.Offsets[i], end, n % x.Stride
}

// index returns the index of source i, built on first use: from the .idx file of an uncompressed
// file if that matches, else by reading the headers.
func (s *Set) index(ctx context.Context, i int, load Loader) (*FileIndex, error) {
	s.mu.Lock()
	x := s.indexes[i]
	s.mu.Unlock()
	if x != nil {
		return x, nil
	}
	x, err := s.makeIndex(ctx, i, load)
	if err != nil {
		return nil, err
	}
	if short := s.MissingRecords(ctx, WholeFile(i), pipeline.Cursor{Number: x.Records, Offset: x.Size}, x.plain); short != nil && !pipeline.MaySkip(s.Opts.SkipBad) {
		return nil, short.Err
	}
	if err := ctx.Err(); err != nil { // an index file may not have been read
		return nil, err
	}
	s.mu.Lock()
	s.indexes[i] = x
	s.mu.Unlock()
	return x, nil
}

// AllIndexes returns the indexes of all files.
func (s *Set) AllIndexes(ctx context.Context) ([]*FileIndex, error) {
	return s.allIndexesBy(ctx, nil)
}

// Loader reads all of file i, and returns it.
type Loader = func(i int, f storage.File, size int64) (io.ReaderAt, error)

// allIndexesBy is AllIndexes. What must be read of the files for it is read by load, unless that is
// nil.
func (s *Set) allIndexesBy(ctx context.Context, load Loader) ([]*FileIndex, error) {
	if ctx == nil {
		return nil, pipeline.ErrNoContext
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Opts.Parallelism)
	all := make([]*FileIndex, len(s.sources))
	for i := range s.sources {
		g.Go(func() (err error) {
			pipeline.LabelGoroutine(ctx, "index")
			all[i], err = s.index(ctx, i, load)
			return err
		})
	}
	return all, g.Wait()
}

func (s *Set) makeIndex(ctx context.Context, i int, load Loader) (*FileIndex, error) {
	source := s.sources[i]
	o := pipeline.ReaderOptions(&s.Opts, source.Path)
	most := max(1024, indexMemory/8/len(s.sources))
	open := s.OpenFile
	var indexed *FileIndex
	if load != nil { // an index file saves the request for the beginning
		if indexed = s.readIndexFile(ctx, i, s.stamps[i].info.Size(), most); indexed != nil {
			open = s.OpenAnywhere
		}
	}
	f, err := open(ctx, i)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, size, err := IsPlain(f, o)
	if err != nil {
		return nil, err
	}
	if !plain {
		if source.Info != nil && source.Info.Bytes == size && source.Info.Records >= 0 && source.Info.Records < pipeline.MaxSkip/int64(len(s.sources)) {
			return &FileIndex{Records: source.Info.Records}, nil
		}
		return s.countPacked(ctx, i, f, o)
	}
	if load == nil {
		indexed = s.readIndexFile(ctx, i, size, most)
	}
	if indexed != nil {
		return indexed, nil
	}
	var all io.ReaderAt = storage.Forward(f)
	if load != nil {
		if all, err = load(i, f, size); err != nil {
			return nil, &tfrecord.Error{Name: source.Path, Part: tfrecord.PartLength, Err: err}
		}
	}
	x := &FileIndex{Stride: 1, plain: true}
	scan := s.Scan(all, source.Path, size, pipeline.Cursor{})
	for scan.At.Offset < size {
		if x.Records%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.Add(scan.At.Offset, most)
		if err := scan.Next(); err != nil {
			return nil, err
		}
	}
	x.Size = scan.At.Offset
	return x, nil
}

// countPacked counts the records of a sequential file.
func (s *Set) countPacked(ctx context.Context, i int, f storage.File, o tfrecord.ReaderOptions) (*FileIndex, error) {
	if !s.Regular(i) {
		return nil, fmt.Errorf("%s: it is not a regular file, and counting its records would consume them", o.Name)
	}
	if !pipeline.MaySkip(s.Opts.SkipBad) {
		o.Checksum = max(o.Checksum, tfrecord.ChecksumLength) // data are checked when they are read
	}
	r := s.Records(i, f, f, o)
	defer r.Close()
	var damage *tfrecord.Damage
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		before := r.Number
		_, _, err := r.Next()
		switch {
		case err == nil, errors.As(err, &damage):
		case err == io.EOF, pipeline.MaySkip(s.Opts.SkipBad) && InData(err):
			return &FileIndex{Records: before}, nil
		default:
			return nil, err
		}
	}
}

// readIndexFile reads the index file of source i, which has size bytes. It returns nil if there is
// none or it does not match: reading the headers works as well.
func (s *Set) readIndexFile(ctx context.Context, i int, size int64, most int) *FileIndex {
	f, err := storage.Open(ctx, manifest.IndexPath(s.sources[i].Path))
	if err != nil {
		if storage.Missing(err) {
			s.setTold(i, 0)
		}
		return nil
	}
	defer f.Close()
	x := &FileIndex{Stride: 1, plain: true}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		begin, end, ok := parseIndexLine(lines.Text())
		if !ok || begin != x.Size || end > size {
			return nil
		}
		x.Add(begin, most)
		x.Size = end
	}
	if lines.Err() != nil || x.Size != size {
		return nil
	}
	s.setTold(i, size)
	return x
}

// setTold records where the records end that the index file of source i tells of.
func (s *files) setTold(i int, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamps[i].told, s.stamps[i].asked = end, true
}

// scan walks the frames of a plain file by their headers. It finds the same records and the same
// damage as a plainFile, except for corrupt data in an intact frame.
type scan struct {
	set    *Set
	file   io.ReaderAt
	name   string
	size   int64
	At     pipeline.Cursor
	window []byte // from base on
	base   int64
}

// scanWindow is the read size; larger records are skipped without being read.
const scanWindow = 64 << 10

func (s *Set) Scan(file io.ReaderAt, name string, size int64, at pipeline.Cursor) *scan {
	return &scan{set: s, file: file, name: name, size: size, At: at, window: make([]byte, 0, scanWindow)}
}

// Next skips one record.
func (c *scan) Next() error {
	framing := pipeline.Framing(&c.set.Opts)
	header, err := c.header(c.At.Offset)
	if err != nil {
		return err
	}
	n, v, err := recheck.Frame(framing, c.file, header, c.At.Offset)
	if err != nil {
		return c.fail(err)
	}
	bad := v == tfrecord.FrameBroken || len(header) < tfrecord.HeaderSize
	end := c.At.Offset + int64(n)
	if !bad && end > c.size {
		bad = true
	}
	if bad && !pipeline.MaySkip(c.set.Opts.SkipBad) {
		return Explain(c.file, pipeline.ReaderOptions(&c.set.Opts, c.name), c.At)
	}
	if !bad && pipeline.MaySkip(c.set.Opts.SkipBad) && end < c.size {
		// Unless a frame follows, this header may be wrong.
		if header, err = c.header(end); err != nil {
			return err
		}
		if _, after, err := recheck.Frame(framing, c.file, header, end); err != nil {
			return c.fail(err)
		} else if after == tfrecord.FrameBroken || len(header) < tfrecord.HeaderSize {
			if v, err = framing.CheckAt(c.file, c.At.Offset); err != nil {
				return c.fail(err)
			}
			bad = v != tfrecord.FrameWhole
		}
	}
	if bad {
		if end, err = framing.Resync(c.file, c.At.Offset+1); err != nil {
			return err
		}
	}
	c.At = pipeline.Cursor{Number: c.At.Number + 1, Offset: end}
	return nil
}

// header returns the header at offset; less at the end of the file.
func (c *scan) header(offset int64) ([]byte, error) {
	if i := offset - c.base; i >= 0 && i+tfrecord.HeaderSize <= int64(len(c.window)) {
		return c.window[i : i+tfrecord.HeaderSize], nil
	}
	n, err := c.file.ReadAt(c.window[:scanWindow], offset)
	if err != nil && err != io.EOF {
		return nil, c.fail(err)
	}
	c.window, c.base = c.window[:n], offset
	return c.window[:min(n, tfrecord.HeaderSize)], nil
}

func (c *scan) fail(err error) error {
	return &tfrecord.Error{Name: c.name, Record: c.At.Number, Offset: c.At.Offset, Part: tfrecord.PartLength, Err: err}
}

// place returns the cursor of record n of source i, 0 ≤ n ≤ records.
func (s *Set) place(ctx context.Context, i int, x *FileIndex, n int64) (pipeline.Cursor, error) {
	switch {
	case !x.plain:
		return pipeline.Cursor{Number: n}, nil
	case n == x.Records:
		return pipeline.Cursor{Number: n, Offset: x.Size}, nil
	}
	begin, _, skip := x.span(n)
	if skip == 0 {
		return pipeline.Cursor{Number: n, Offset: begin}, nil
	}
	f, err := s.OpenFile(ctx, i)
	if err != nil {
		return pipeline.Cursor{}, err
	}
	defer f.Close()
	c := s.Scan(f, s.sources[i].Path, x.Size, pipeline.Cursor{Number: n - skip, Offset: begin})
	for range skip {
		if err := c.Next(); err != nil {
			return pipeline.Cursor{}, err
		}
	}
	return c.At, nil
}
