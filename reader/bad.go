package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/tfrec/tfrec/tfrecord"
)

// SkipBad says how much damage in the files an epoch may pass over before it
// fails. One record with wrong data, one stretch of broken framing and one
// compressed file that cannot be read to its end count as one each.
//
// Behind broken framing, reading goes on at the next header whose length and
// data both have their CRC. What is left of a compressed file whose stream is
// broken is lost.
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
		lost = fmt.Sprintf("%d bytes", s.Bytes)
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
	err            error
}

// tolerance counts damage against what is allowed in an epoch.
type tolerance struct {
	set   *Set
	epoch int32
	limit int64
	seen  int64
}

// newTolerance returns the tolerance of an epoch of records records; -1 when
// they were not counted, which only a share needs.
func newTolerance(set *Set, epoch, records int64) tolerance {
	bad := set.opts.SkipBad
	t := tolerance{set: set, epoch: int32(epoch), limit: bad.Count}
	if records > 0 {
		t.limit = max(t.limit, int64(math.Floor(bad.Share*float64(records))))
	}
	return t
}

// skip counts f and reports it; an error when it is one too many.
func (t *tolerance) skip(f *fault) error {
	t.seen++
	if t.seen > t.limit {
		if t.limit == 0 {
			return f.err
		}
		return fmt.Errorf("%w (%w): it is the %dth", f.err, ErrTooManyBad, t.seen)
	}
	if t.set.opts.OnSkip != nil {
		t.set.opts.OnSkip(Skipped{
			Path: t.set.sources[f.file].Path, Record: f.number, Offset: f.offset, Bytes: f.bytes, Epoch: t.epoch, Err: f.err,
		})
	}
	return nil
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

// tolerance returns that of an epoch of pieces.
func (s *Set) tolerance(ctx context.Context, epoch int64, pieces []piece) (tolerance, error) {
	records := int64(0)
	if s.opts.SkipBad.Share > 0 {
		all, err := s.allIndexes(ctx)
		if err != nil {
			return tolerance{}, err
		}
		for _, p := range pieces {
			records += min(p.end.number, all[p.file].records) - p.from.number
		}
	}
	return newTolerance(s, epoch, records), nil
}
