// Package recordcount counts the records of files: from the manifest where there is one, otherwise
// from the frame headers.
package recordcount

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Counted is a file of records and its record count.
type Counted struct {
	shard.Source
	Size        int64
	Compression tfrecord.Compression
	Records     int64       // in the file
	Frames      int64       // uncompressed bytes of all frames, if the file was read to count them
	Marks       []FrameMark // positions in the file, if its frames were counted
}

// Count fills in the file's compression and record count, reading no faster than rate; nil means no
// limit.
func (f *Counted) Count(ctx context.Context, maxRecord int64, rate *recordscan.RateLimit) error {
	file, err := storage.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: maxRecord, Checksum: tfrecord.ChecksumLength}
	var in io.Reader = file
	if rate != nil {
		in = &recordscan.Meter{Context: ctx, File: file, Rate: rate}
	}
	r := tfrecord.NewReader(in, o)
	defer r.Close()
	_, err = r.Next() // detects the compression
	f.Compression = r.Compression()
	switch {
	case err == io.EOF:
		f.Records = 0
		return f.CheckCount(0)
	case err != nil:
		return shard.Damaged(err)
	case f.Info != nil && f.Info.Bytes == f.Size && f.mayHold(f.Info.Records):
		f.Records = f.Info.Records
		return nil
	case f.Compression == tfrecord.CompressionNone:
		if rate == nil { // it would not count bytes read ahead
			file = storage.Forward(file)
		}
		w := FrameWalk{File: file, Size: f.Size, O: o, rate: rate, Every: max(f.Size/mostMarks, leastMarked)}
		err = w.To(ctx, math.MaxInt64)
		f.Records, f.Marks = w.At.Record, w.Marks
	default:
		f.Records = 1
		for {
			var record []byte
			if record, err = r.Next(); err != nil {
				break
			}
			f.Frames = r.Offset() + int64(len(record)) + tfrecord.Overhead
			if f.Records++; f.Records&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return shard.Damaged(err)
	}
	return f.CheckCount(f.Records)
}

// mostCompressed is an upper bound on the compression ratio of a file.
const mostCompressed = 1 << 16

// mayHold reports whether a non-empty file can hold that many records. A wrong count in a manifest
// is only detected once the file has been read; until then, an impossible count must not make a run
// loop forever.
func (f *Counted) mayHold(records int64) bool {
	most := f.Size / tfrecord.Overhead
	if f.Compression != tfrecord.CompressionNone {
		most = f.Size * (mostCompressed / tfrecord.Overhead)
	}
	return 0 < records && records <= most
}

// CheckCount compares the number of records in the file with the manifest's.
func (f *Counted) CheckCount(records int64) error {
	if f.Info == nil || f.Info.Records == records {
		return nil
	}
	return &shard.DamagedError{Err: &tfrecord.Error{
		Name: f.Path, Record: -1, Offset: f.Size, Part: tfrecord.PartCount,
		Err: fmt.Errorf("%s, the manifest says %d", plural.Of(records, "record"), f.Info.Records),
	}}
}
