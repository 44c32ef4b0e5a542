package reader

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/recheck"
	"github.com/tfrec/tfrec/tfrecord"
)

// Len returns the number of records in the whole set.
func (s *fileSet) Len(ctx context.Context) (int64, error) {
	if len(s.joined) > 0 {
		all := int64(0)
		for _, of := range s.joined {
			n, err := of.Len(ctx)
			if err != nil {
				return 0, err
			}
			all += n
		}
		return all, nil
	}
	all, err := s.allIndexes(ctx)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for _, x := range all {
		n += x.records
	}
	return n, nil
}

// At reads record n of the whole set, and appends its data to dst.
func (s *fileSet) At(ctx context.Context, dst []byte, n int64) (Record, error) {
	if len(s.joined) > 0 {
		return s.atJoined(ctx, dst, n)
	}
	var f finder
	if err := f.find(ctx, s, nil); err != nil {
		return Record{}, err
	}
	defer f.close()
	if n < 0 || n >= f.total() {
		return Record{}, outOfRange(n, f.total())
	}
	w := f.locate(n)
	file, done, err := f.file(ctx, w.file)
	if err != nil {
		return Record{}, err
	}
	defer done()
	at := cursor{w.number - w.skip, w.begin}
	scan := s.scan(file, file.Name(), w.end, at)
	for range w.skip {
		if err := scan.next(); err != nil {
			return Record{}, err
		}
	}
	p := make([]byte, w.end-scan.at.offset)
	k, err := file.ReadAt(p, scan.at.offset)
	if err != nil && err != io.EOF {
		return Record{}, &tfrecord.Error{Name: file.Name(), Record: w.number, Offset: scan.at.offset, Part: tfrecord.PartData, Err: err}
	}
	size, v, err := recheck.Frame(framingOf(&s.opts), file, p[:k], scan.at.offset)
	if err != nil {
		return Record{}, &tfrecord.Error{Name: file.Name(), Record: w.number, Offset: scan.at.offset, Part: tfrecord.PartData, Err: err}
	}
	if v != tfrecord.FrameWhole {
		return Record{}, explain(file, readerOptionsOf(&s.opts, file.Name()), scan.at)
	}
	begin := len(dst)
	dst = append(dst, p[tfrecord.HeaderSize:size-tfrecord.FooterSize]...)
	return Record{Data: dst[begin:], Offset: scan.at.offset, Number: w.number, File: w.file}, nil
}

// atJoined is At of a set with the files of others.
func (s *fileSet) atJoined(ctx context.Context, dst []byte, n int64) (Record, error) {
	total, err := s.Len(ctx)
	if err != nil {
		return Record{}, err
	}
	if n < 0 || n >= total {
		return Record{}, outOfRange(n, total)
	}
	for file, i := int32(0), 0; ; i++ {
		of := s.joined[i]
		records, err := of.Len(ctx)
		if err != nil {
			return Record{}, err
		}
		if n < records {
			r, err := of.At(ctx, dst, n)
			r.File += file
			return r, err
		}
		n, file = n-records, file+int32(len(of.sources))
	}
}

func outOfRange(n, total int64) error {
	return fmt.Errorf("record %d: want 0 or more, and below the %d that there are", n, total)
}
