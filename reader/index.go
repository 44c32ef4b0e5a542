package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/recheck"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// indexMemory bounds the memory for the offsets of all records of a set. For larger sets only every
// second offset is kept, or every fourth, and so on.
const indexMemory = 64 << 20

// fileIndex locates the records of a file.
type fileIndex struct {
	records int64
	stride  int64   // a power of two
	offsets []int64 // of the frames of records 0, stride, 2·stride …; none for a sequential file
	size    int64   // where the last record ends
	plain   bool
}

// add adds the next record.
func (x *fileIndex) add(offset int64, most int) {
	if x.records%x.stride == 0 {
		if len(x.offsets) >= most {
			for i := range x.offsets[:(len(x.offsets)+1)/2] {
				x.offsets[i] = x.offsets[2*i]
			}
			x.offsets = x.offsets[:(len(x.offsets)+1)/2]
			x.stride *= 2
		}
		if x.records%x.stride == 0 {
			x.offsets = append(x.offsets, offset)
		}
	}
	x.records++
}

// span returns where to look for record n: its frame is in the bytes from begin to end, after skip
// others.
func (x *fileIndex) span(n int64) (begin, end, skip int64) {
	i := n / x.stride
	end = x.size
	if int(i)+1 < len(x.offsets) {
		end = x.offsets[i+1]
	}
	return x.offsets[i], end, n % x.stride
}

// index returns the index of source i, built on first use: from the .idx file of an uncompressed
// file if that matches, else by reading the headers.
func (s *fileSet) index(ctx context.Context, i int, kept *resident) (*fileIndex, error) {
	s.mu.Lock()
	x := s.indexes[i]
	s.mu.Unlock()
	if x != nil {
		return x, nil
	}
	x, err := s.makeIndex(ctx, i, kept)
	if err != nil {
		return nil, err
	}
	if short := s.missingRecords(ctx, wholeFile(i), cursor{x.records, x.size}, x.plain); short != nil && !maySkip(s.opts.SkipBad) {
		return nil, short.err
	}
	if err := ctx.Err(); err != nil { // an index file may not have been read
		return nil, err
	}
	s.mu.Lock()
	s.indexes[i] = x
	s.mu.Unlock()
	return x, nil
}

// allIndexes returns the indexes of all files.
func (s *fileSet) allIndexes(ctx context.Context) ([]*fileIndex, error) {
	return s.allIndexesKeeping(ctx, nil)
}

// allIndexesKeeping is allIndexes. What must be read of the files for it goes into kept, unless that
// is nil.
func (s *fileSet) allIndexesKeeping(ctx context.Context, kept *resident) ([]*fileIndex, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.opts.Parallelism)
	all := make([]*fileIndex, len(s.sources))
	for i := range s.sources {
		g.Go(func() (err error) {
			labelGoroutine(ctx, "index")
			all[i], err = s.index(ctx, i, kept)
			return err
		})
	}
	return all, g.Wait()
}

func (s *fileSet) makeIndex(ctx context.Context, i int, kept *resident) (*fileIndex, error) {
	source := s.sources[i]
	o := readerOptionsOf(&s.opts, source.Path)
	most := max(1024, indexMemory/8/len(s.sources))
	open := s.openFile
	var indexed *fileIndex
	if kept != nil { // an index file saves the request for the beginning
		if indexed = s.readIndexFile(ctx, i, s.stamps[i].info.Size(), most); indexed != nil {
			open = s.openAnywhere
		}
	}
	f, err := open(ctx, i)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, size, err := isPlain(f, o)
	if err != nil {
		return nil, err
	}
	if !plain {
		if source.Info != nil && source.Info.Bytes == size && source.Info.Records >= 0 && source.Info.Records < maxSkip/int64(len(s.sources)) {
			return &fileIndex{records: source.Info.Records}, nil
		}
		return s.countPacked(ctx, i, f, o)
	}
	if kept == nil {
		indexed = s.readIndexFile(ctx, i, size, most)
	}
	if indexed != nil {
		return indexed, nil
	}
	var all io.ReaderAt = storage.Forward(f)
	if kept != nil {
		if all, err = kept.load(i, f, size); err != nil {
			return nil, &tfrecord.Error{Name: source.Path, Part: tfrecord.PartLength, Err: err}
		}
	}
	x := &fileIndex{stride: 1, plain: true}
	scan := s.scan(all, source.Path, size, cursor{})
	for scan.at.offset < size {
		if x.records%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.add(scan.at.offset, most)
		if err := scan.next(); err != nil {
			return nil, err
		}
	}
	x.size = scan.at.offset
	return x, nil
}

// countPacked counts the records of a sequential file.
func (s *fileSet) countPacked(ctx context.Context, i int, f storage.File, o tfrecord.ReaderOptions) (*fileIndex, error) {
	if !s.regular(i) {
		return nil, fmt.Errorf("%s: it is not a regular file, and counting its records would consume them", o.Name)
	}
	if !maySkip(s.opts.SkipBad) {
		o.Checksum = max(o.Checksum, tfrecord.ChecksumLength) // data are checked when they are read
	}
	r := s.records(i, f, f, o)
	defer r.close()
	var damage *tfrecord.Damage
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		before := r.number
		_, _, err := r.next()
		switch {
		case err == nil, errors.As(err, &damage):
		case err == io.EOF, maySkip(s.opts.SkipBad) && inData(err):
			return &fileIndex{records: before}, nil
		default:
			return nil, err
		}
	}
}

// readIndexFile reads the index file of source i, which has size bytes. It returns nil if there is
// none or it does not match: reading the headers works as well.
func (s *fileSet) readIndexFile(ctx context.Context, i int, size int64, most int) *fileIndex {
	f, err := storage.Open(ctx, manifest.IndexPath(s.sources[i].Path))
	if err != nil {
		if storage.Missing(err) {
			s.setTold(i, 0)
		}
		return nil
	}
	defer f.Close()
	x := &fileIndex{stride: 1, plain: true}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		begin, end, ok := parseIndexLine(lines.Text())
		if !ok || begin != x.size || end > size {
			return nil
		}
		x.add(begin, most)
		x.size = end
	}
	if lines.Err() != nil || x.size != size {
		return nil
	}
	s.setTold(i, size)
	return x
}

// setTold records where the records end that the index file of source i tells of.
func (s *fileSet) setTold(i int, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamps[i].told, s.stamps[i].asked = end, true
}

// scan walks the frames of a plain file by their headers. It finds the same records and the same
// damage as a plainFile, except for corrupt data in an intact frame.
type scan struct {
	set    *fileSet
	file   io.ReaderAt
	name   string
	size   int64
	at     cursor
	window []byte // from base on
	base   int64
}

// scanWindow is the read size; larger records are skipped without being read.
const scanWindow = 64 << 10

func (s *fileSet) scan(file io.ReaderAt, name string, size int64, at cursor) *scan {
	return &scan{set: s, file: file, name: name, size: size, at: at, window: make([]byte, 0, scanWindow)}
}

// next skips one record.
func (c *scan) next() error {
	framing := framingOf(&c.set.opts)
	header, err := c.header(c.at.offset)
	if err != nil {
		return err
	}
	n, v, err := recheck.Frame(framing, c.file, header, c.at.offset)
	if err != nil {
		return c.fail(err)
	}
	bad := v == tfrecord.FrameBroken || len(header) < tfrecord.HeaderSize
	end := c.at.offset + int64(n)
	if !bad && end > c.size {
		bad = true
	}
	if bad && !maySkip(c.set.opts.SkipBad) {
		return explain(c.file, readerOptionsOf(&c.set.opts, c.name), c.at)
	}
	if !bad && maySkip(c.set.opts.SkipBad) && end < c.size {
		// Unless a frame follows, this header may be wrong.
		if header, err = c.header(end); err != nil {
			return err
		}
		if _, after, err := recheck.Frame(framing, c.file, header, end); err != nil {
			return c.fail(err)
		} else if after == tfrecord.FrameBroken || len(header) < tfrecord.HeaderSize {
			if v, err = framing.CheckAt(c.file, c.at.offset); err != nil {
				return c.fail(err)
			}
			bad = v != tfrecord.FrameWhole
		}
	}
	if bad {
		if end, err = framing.Resync(c.file, c.at.offset+1); err != nil {
			return err
		}
	}
	c.at = cursor{c.at.number + 1, end}
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
	return &tfrecord.Error{Name: c.name, Record: c.at.number, Offset: c.at.offset, Part: tfrecord.PartLength, Err: err}
}

// place returns the cursor of record n of source i, 0 ≤ n ≤ records.
func (s *fileSet) place(ctx context.Context, i int, x *fileIndex, n int64) (cursor, error) {
	switch {
	case !x.plain:
		return cursor{number: n}, nil
	case n == x.records:
		return cursor{n, x.size}, nil
	}
	begin, _, skip := x.span(n)
	if skip == 0 {
		return cursor{n, begin}, nil
	}
	f, err := s.openFile(ctx, i)
	if err != nil {
		return cursor{}, err
	}
	defer f.Close()
	c := s.scan(f, s.sources[i].Path, x.size, cursor{n - skip, begin})
	for range skip {
		if err := c.next(); err != nil {
			return cursor{}, err
		}
	}
	return c.at, nil
}
