package reader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// SkipBad says how much damage an epoch may pass over before it fails. One
// record with wrong data, one stretch of broken framing, one compressed file
// that cannot be decompressed to its end, and one record that cannot be parsed or
// decoded, or that a function of [Map], [Pipe.Map] or [Pipe.Filter] has an error
// for, count as one each, all against the same limit. So does each record that a
// file has too few at its end, by its manifest or, without one, its index file: a
// file that was cut off between two records, or lost several in one stretch, shows
// that in no other way. Without manifest and index such a file is whole for all
// that can be known.
//
// Behind broken framing, reading goes on at the next header whose length and
// data both have their CRC, in compressed files, too, which are decompressed once
// more for that. Where a stream cannot be decompressed, and behind broken framing
// in a pipe, what is left of the file is lost.
//
// Batches of columns and of images are smaller by the records that are left
// out of them, with DropRemainder, too; a batch of nothing else is not given.
// An error of the operating system is never passed over.
type SkipBad struct {
	// Count is how many.
	Count int64
	// Share of the records of the worker's part, 0 to 1, which are counted
	// first. The larger of Count and Share holds.
	Share float64
}

func (s SkipBad) check() error {
	if s.Count < 0 || !(s.Share >= 0 && s.Share <= 1) {
		return fmt.Errorf("SkipBad %d, %g: want a number from 0, and a share from 0 to 1", s.Count, s.Share)
	}
	return nil
}

// asked reports whether anything is passed over at all.
func (s SkipBad) asked() bool { return s.Count > 0 || s.Share > 0 }

// Skipped is damage that was passed over.
type Skipped struct {
	// Path of the file.
	Path string
	// Record is the number of the record that is missing, Offset where its
	// frame begins, in the uncompressed stream.
	Record, Offset int64
	// Records that are lost, as far as is known: 1 for a record with wrong data,
	// and for a stretch of broken framing, which may have held more. Where manifest
	// or index file tell how many the file had, the others are told at its end.
	Records int64
	// Bytes that are lost, uncompressed and with framing; -1 when that is not
	// known: at the end of a compressed file.
	Bytes int64
	Epoch int32
	// Err says what is wrong.
	Err error
}

// String says it in a line.
func (s Skipped) String() string {
	lost := "an unknown number of bytes"
	if s.Bytes >= 0 {
		lost = plural.Of(s.Bytes, "byte")
	}
	if s.Records > 1 {
		lost = plural.Of(s.Records, "record") + ", " + lost
	}
	return fmt.Sprintf("skipped %s: %v", lost, s.Err)
}

// ErrTooManyBad says that more records are damaged than [SkipBad] allows.
var ErrTooManyBad = errors.New("more damage than may be skipped")

// fault is damage that a feed passed over, ahead of record `before` of its
// block, or behind the last one.
type fault struct {
	file           int32
	before         int
	number, offset int64
	bytes          int64
	records        int64 // 0 stands for 1
	err            error
}

// skipped tells of the fault.
func (f *fault) skipped(set *Set, epoch int32) Skipped {
	return Skipped{
		Path: set.sources[f.file].Path, Record: f.number, Offset: f.offset,
		Records: max(f.records, 1), Bytes: f.bytes, Epoch: epoch, Err: f.err,
	}
}

// errChanged is for data that are good when they are read a second time.
var errChanged = errors.New("the file changed while it was read")

// explain returns the words of tfrecord.Reader for what is wrong at a place.
func explain(file io.ReaderAt, o tfrecord.ReaderOptions, at cursor) error {
	o.BufferSize = 4 << 10
	err := tfrecord.NewSalvager(file, o).Fault(at.number, at.offset)
	if located := new(tfrecord.Error); errors.As(err, &located) {
		return located
	}
	return &tfrecord.Error{Name: o.Name, Record: at.number, Offset: at.offset, Part: tfrecord.PartData, Err: errChanged}
}

// inData reports whether err is damage in the data, and not the operating
// system's refusal to give them.
func inData(err error) bool {
	var located *tfrecord.Error
	var system *fs.PathError
	return errors.As(err, &located) && !errors.As(err, &system)
}
