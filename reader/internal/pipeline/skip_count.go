package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/tfrecord"
)

// SkipCount counts what was skipped in the two newest epochs; anything older counts for the older
// of the two.
type SkipCount struct {
	epochs [2]int32
	seen   [2]int64
}

// TallyWords is the length of a skip count in a position.
const TallyWords = 4

func (t *SkipCount) add(epoch int32, n int64) {
	if epoch > t.epochs[1] {
		t.epochs[0], t.seen[0] = t.epochs[1], t.seen[1]
		t.epochs[1], t.seen[1] = epoch, 0
	}
	if epoch == t.epochs[1] {
		t.seen[1] += n
	} else {
		t.seen[0] += n
	}
}

// Of returns the count of an epoch.
func (t *SkipCount) Of(epoch int32) int64 {
	switch epoch {
	case t.epochs[1]:
		return t.seen[1]
	case t.epochs[0]:
		return t.seen[0]
	}
	return 0
}

func (t *SkipCount) Words() [TallyWords]int64 {
	return [TallyWords]int64{int64(t.epochs[0]), t.seen[0], int64(t.epochs[1]), t.seen[1]}
}

// TallyOf decodes words; false if they are invalid.
func TallyOf(w []int64) (SkipCount, bool) {
	if len(w) != TallyWords || w[1] < 0 || w[3] < 0 || w[1] > MaxSkip || w[3] > MaxSkip || w[0] != int64(int32(w[0])) || w[2] != int64(int32(w[2])) {
		return SkipCount{}, false
	}
	return SkipCount{[2]int32{int32(w[0]), int32(w[2])}, [2]int64{w[1], w[3]}}, true
}

// PopLead removes the section of a stage that passes on records of the stage before. It returns the
// number of records between that stage's position and a block's, and the skip count before it. Both
// are zero at the beginning.
func (p Position) PopLead(name string) (lead int64, bad SkipCount, before Position, err error) {
	own, before := p.Pop()
	if own == nil {
		return 0, SkipCount{}, before, nil
	}
	ok := len(own) == 1+TallyWords && own[0] >= 0 && own[0] <= MaxLead
	if ok {
		bad, ok = TallyOf(own[1:])
	}
	if !ok {
		return 0, SkipCount{}, nil, ErrPosition(name)
	}
	return own[0], bad, before, nil
}

// tallies are the skip counts of all stages, which share the limit of an epoch.
type tallies struct {
	all     []*SkipCount
	allowed int64
}

// Tally registers the count of a stage.
func (r *Run) Tally(t *SkipCount) {
	r.Mu.Lock()
	r.bad.all = append(r.bad.all, t)
	r.Mu.Unlock()
}

// SetTally restores the count of a stage that starts.
func (r *Run) SetTally(t *SkipCount, to SkipCount) {
	r.Mu.Lock()
	*t = to
	r.Mu.Unlock()
}

// BeginTally is SetTally for a source, which begins one epoch after another.
func (r *Run) BeginTally(t *SkipCount, epoch int32, seen int64) {
	to := *t
	if epoch != to.epochs[1] {
		to.epochs[0], to.seen[0] = to.epochs[1], to.seen[1]
	}
	to.epochs[1], to.seen[1] = epoch, seen
	r.SetTally(t, to)
}

// Allow sets how many of records records may be skipped in an epoch; records is -1 if they were not
// counted, which only Share requires.
func (r *Run) Allow(records int64) {
	bad := r.Opts.SkipBad
	most := MostSkipped(bad)
	if records > 0 {
		most = max(most, int64(math.Floor(bad.Share*float64(records))))
	}
	r.Mu.Lock()
	r.bad.allowed = most
	r.Mu.Unlock()
}

// skipped returns how many records of an epoch were skipped, and how many may be, in the run and its
// inputs.
func (r *Run) skipped(epoch int32) (n, allowed int64) {
	allowed = r.bad.allowed
	for _, t := range r.bad.all {
		n += t.Of(epoch)
	}
	for _, in := range r.Inputs {
		of, most := in.skipped(epoch)
		n, allowed = n+of, allowed+most
	}
	return n, allowed
}

// Skip counts and reports skipped damage. It returns an error if that exceeds the limit.
func (r *Run) Skip(t *SkipCount, s Skipped) error {
	r.Mu.Lock()
	t.add(s.Epoch, s.Records)
	total, allowed := r.skipped(s.Epoch)
	r.Mu.Unlock()
	if total > allowed {
		if allowed == 0 {
			return s.Err
		}
		return fmt.Errorf("%w (%w): %d in this epoch, of %d", s.Err, ErrTooManyBad, total, allowed)
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	r.logSkipped(s)
	if tell := r.Opts.OnSkip; tell != nil {
		tell(s)
	}
	return nil
}

// SkipRecord is skip for a record without a result.
func (r *Run) SkipRecord(t *SkipCount, record Record, err error) error {
	return r.Skip(t, Skipped{
		Path: r.Data.Path(record), Record: record.Number, Offset: record.Offset,
		Records: 1, Bytes: int64(len(record.Data)) + tfrecord.Overhead, Epoch: record.Epoch, Err: r.Locate(record, err),
	})
}

// Passable reports whether a record that gave err may be skipped: not for an operating system
// error, a backend that does not work, a batch that is too large, a mistake of the program, nor
// during shutdown.
func (r *Run) Passable(err error) bool {
	var system *fs.PathError
	return MaySkip(r.Opts.SkipBad) && !errors.As(err, &system) && !errors.Is(err, ErrNoFunction) && !errors.Is(err, ErrBackend) && !errors.Is(err, columns.ErrPadding) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// Locate adds file, record and offset to an error about a record.
func (r *Run) Locate(record Record, err error) error {
	e := tfrecord.Error{Name: r.Data.Path(record), Record: record.Number, Offset: record.Offset, Part: tfrecord.PartParse, Err: err}
	var inner *tfrecord.Error
	if errors.As(err, &inner) && inner.Record < 0 {
		e.Part, e.Err = inner.Part, inner.Err
		if errors.Is(err, tfrecord.ErrMalformed) {
			e.Err = fmt.Errorf("byte %d of the record: %w", inner.Offset, inner.Err)
		}
	}
	return &e
}

// WorkFault is a record of a portion without a result.
type WorkFault struct {
	Record int
	Err    error
	Count  SkipCount // including it
}

// ErrBackend is an error of the backend itself, which SkipBad does not cover.
var ErrBackend = errors.New("the backend of the images failed")

// ErrNoFunction is a mistake of the program, which SkipBad does not cover.
var ErrNoFunction = errors.New("reader: Map or MapWith without a function")

// MaxLead is more than the number of records in any block.
const MaxLead = 1 << 32
