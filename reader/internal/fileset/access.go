package fileset

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// Len returns the number of records in the whole set.
func (s *Set) Len(ctx context.Context) (int64, error) {
	if len(s.Joined) > 0 {
		all := int64(0)
		for _, of := range s.Joined {
			n, err := of.Len(ctx)
			if err != nil {
				return 0, err
			}
			all += n
		}
		return all, nil
	}
	all, err := s.AllIndexes(ctx)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for _, x := range all {
		n += x.Records
	}
	return n, nil
}

// At reads record n of the whole set, and appends its data to dst.
func (s *Set) At(ctx context.Context, dst []byte, n int64) (pipeline.Record, error) {
	if len(s.Joined) > 0 {
		return s.atJoined(ctx, dst, n)
	}
	var f Finder
	if err := f.Find(ctx, s, nil); err != nil {
		return pipeline.Record{}, err
	}
	defer f.Close()
	if n < 0 || n >= f.Total() {
		return pipeline.Record{}, outOfRange(n, f.Total())
	}
	w := f.locate(n)
	file, done, err := f.File(ctx, w.File)
	if err != nil {
		return pipeline.Record{}, err
	}
	defer done()
	at := pipeline.Cursor{Number: w.Number - w.Skip, Offset: w.Begin}
	scan := s.Scan(file, file.Name(), w.End, at)
	for range w.Skip {
		if err := scan.Next(); err != nil {
			return pipeline.Record{}, err
		}
	}
	p := make([]byte, w.End-scan.At.Offset)
	k, err := file.ReadAt(p, scan.At.Offset)
	if err != nil && err != io.EOF {
		return pipeline.Record{}, &tfrecord.Error{Name: file.Name(), Record: w.Number, Offset: scan.At.Offset, Part: tfrecord.PartData, Err: err}
	}
	size, v, err := recheck.Frame(pipeline.Framing(&s.Opts), file, p[:k], scan.At.Offset)
	if err != nil {
		return pipeline.Record{}, &tfrecord.Error{Name: file.Name(), Record: w.Number, Offset: scan.At.Offset, Part: tfrecord.PartData, Err: err}
	}
	if v != tfrecord.FrameWhole {
		return pipeline.Record{}, Explain(file, pipeline.ReaderOptions(&s.Opts, file.Name()), scan.At)
	}
	begin := len(dst)
	dst = append(dst, p[tfrecord.HeaderSize:size-tfrecord.FooterSize]...)
	return pipeline.Record{Data: dst[begin:], Offset: scan.At.Offset, Number: w.Number, File: w.File}, nil
}

// atJoined is At of a set with the files of others.
func (s *Set) atJoined(ctx context.Context, dst []byte, n int64) (pipeline.Record, error) {
	total, err := s.Len(ctx)
	if err != nil {
		return pipeline.Record{}, err
	}
	if n < 0 || n >= total {
		return pipeline.Record{}, outOfRange(n, total)
	}
	for file, i := int32(0), 0; ; i++ {
		of := s.Joined[i]
		records, err := of.Len(ctx)
		if err != nil {
			return pipeline.Record{}, err
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
