package pipeline

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
)

// SkipBad limits how much damage an epoch may skip before it fails. Each of these counts as one,
// against the same limit: a record with corrupt data, a stretch of broken framing, a compressed
// file that cannot be decompressed to its end, and a record that cannot be parsed or decoded, or
// for which a function of Map, MapData or Flow.Filter returns an error. So does each record
// missing at the end of a file, according to its manifest or, without one, its index file: nothing
// else reveals a file that was cut off between two records, or that lost several in one stretch.
// Without manifest and index such a file looks complete.
//
// After broken framing, reading resumes at the next header whose length and data both match their
// CRC. Compressed files are decompressed a second time for that. Where a stream cannot be
// decompressed, and after broken framing in a pipe, the rest of the file is lost.
//
// Batches of columns and images shrink by the records left out of them, even with DropRemainder; a
// batch with no good record is not returned. Operating system errors are never skipped.
type SkipBad struct {
	// Count is the number of faults allowed.
	Count int64
	// Share is the allowed share of the worker's records, 0 to 1; the records are counted first.
	// The larger of Count and Share applies.
	Share float64
}

func (s SkipBad) check() error {
	if s.Count < 0 || !(s.Share >= 0 && s.Share <= 1) {
		return fmt.Errorf("SkipBad %d, %g: want a number from 0, and a share from 0 to 1", s.Count, s.Share)
	}
	return nil
}

// MostSkipped is Count within MaxSkip, so that limits can be added up.
func MostSkipped(s SkipBad) int64 { return min(s.Count, MaxSkip) }

// MaySkip reports whether anything may be skipped at all.
func MaySkip(s SkipBad) bool { return s.Count > 0 || s.Share > 0 }

// Skipped describes damage that was skipped.
type Skipped struct {
	// Path of the file.
	Path string
	// Record is the number of the missing record, and Offset where its frame begins in the
	// uncompressed stream.
	Record, Offset int64
	// Records is the number of records lost, as far as known: 1 for a record with corrupt data, and
	// 1 for a stretch of broken framing, which may have held more. If the manifest or index file
	// gives the number of records in the file, the others are reported at its end.
	Records int64
	// Bytes is the number of bytes lost, uncompressed and with framing; -1 if unknown: at the end
	// of a compressed file.
	Bytes int64
	Epoch int32
	// Err is the cause.
	Err error
}

// String returns a one-line description.
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

// ErrTooManyBad means that more records are damaged than [SkipBad] allows.
var ErrTooManyBad = errors.New("more damage than may be skipped")

// Fault is damage that a feed skipped, ahead of record `before` of its block or after the last one.
type Fault struct {
	File           int32
	Before         int
	Number, Offset int64
	Bytes          int64
	Records        int64 // 0 means 1
	Err            error
}

// Skipped returns the fault as a Skipped.
func (f *Fault) Skipped(path string, epoch int32) Skipped {
	return Skipped{
		Path: path, Record: f.Number, Offset: f.Offset,
		Records: max(f.Records, 1), Bytes: f.Bytes, Epoch: epoch, Err: f.Err,
	}
}
