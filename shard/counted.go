package shard

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// counted is a file of records, and how many it holds.
type counted struct {
	Source
	size        int64
	compression tfrecord.Compression
	records     int64       // in the file
	frames      int64       // bytes of them, uncompressed, if the file was read to count them
	marks       []frameMark // places in it, when its frames were counted
}

// count fills in the file's compression and the number of its records, reading no
// faster than the rate; nil is no limit.
func (f *counted) count(ctx context.Context, maxRecord int64, rate *recordscan.RateLimit) error {
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
	_, err = r.Next() // tells the compression
	f.compression = r.Compression()
	switch {
	case err == io.EOF:
		f.records = 0
		return f.checkCount(0)
	case err != nil:
		return damaged(err)
	case f.Info != nil && f.Info.Bytes == f.size && f.mayHold(f.Info.Records):
		f.records = f.Info.Records
		return nil
	case f.compression == tfrecord.None:
		w := frameWalk{file: file, size: f.size, o: o, rate: rate, every: max(f.size/mostMarks, leastMarked)}
		err = w.to(ctx, math.MaxInt64)
		f.records, f.marks = w.at.record, w.marks
	default:
		f.records = 1
		for {
			var record []byte
			if record, err = r.Next(); err != nil {
				break
			}
			f.frames = r.Offset() + int64(len(record)) + tfrecord.Overhead
			if f.records++; f.records&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return damaged(err)
	}
	return f.checkCount(f.records)
}

// mostCompressed is more than how often a file can be larger uncompressed.
const mostCompressed = 1 << 16

// mayHold reports whether a file that has a record may have so many. What a manifest
// says is only known to be wrong when the file was read, and a number that no
// file can have must not make a run go on for ever before that.
func (f *counted) mayHold(records int64) bool {
	most := f.size / tfrecord.Overhead
	if f.compression != tfrecord.None {
		most = f.size * (mostCompressed / tfrecord.Overhead)
	}
	return 0 < records && records <= most
}

// checkCount holds the number of records in the file to the manifest's.
func (f *counted) checkCount(records int64) error {
	if f.Info == nil || f.Info.Records == records {
		return nil
	}
	return &DamagedError{&tfrecord.Error{
		Name: f.Path, Record: -1, Offset: f.size, Part: tfrecord.PartCount,
		Err: fmt.Errorf("%s, the manifest says %d", plural.Of(records, "record"), f.Info.Records),
	}}
}
