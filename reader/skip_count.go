package reader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/tfrecord"
)

// skipCount counts what was skipped in the two newest epochs; anything older counts for the older
// of the two.
type skipCount struct {
	epochs [2]int32
	seen   [2]int64
}

// tallyWords is the length of a skip count in a position.
const tallyWords = 4

func (t *skipCount) add(epoch int32, n int64) {
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

// of returns the count of an epoch.
func (t *skipCount) of(epoch int32) int64 {
	switch epoch {
	case t.epochs[1]:
		return t.seen[1]
	case t.epochs[0]:
		return t.seen[0]
	}
	return 0
}

func (t *skipCount) words() [tallyWords]int64 {
	return [tallyWords]int64{int64(t.epochs[0]), t.seen[0], int64(t.epochs[1]), t.seen[1]}
}

// tallyOf decodes words; false if they are invalid.
func tallyOf(w []int64) (skipCount, bool) {
	if len(w) != tallyWords || w[1] < 0 || w[3] < 0 || w[1] > maxSkip || w[3] > maxSkip || w[0] != int64(int32(w[0])) || w[2] != int64(int32(w[2])) {
		return skipCount{}, false
	}
	return skipCount{[2]int32{int32(w[0]), int32(w[2])}, [2]int64{w[1], w[3]}}, true
}

// popLead removes the section of a stage that passes records of the stage before on: how many of them
// are between that stage's position and that of a block, and the skip count before it. Both are none at
// the beginning.
func (p position) popLead(name string) (lead int64, bad skipCount, before position, err error) {
	own, before := p.pop()
	if own == nil {
		return 0, skipCount{}, before, nil
	}
	ok := len(own) == 1+tallyWords && own[0] >= 0 && own[0] <= maxLead
	if ok {
		bad, ok = tallyOf(own[1:])
	}
	if !ok {
		return 0, skipCount{}, nil, errPosition(name)
	}
	return own[0], bad, before, nil
}

// tallies are the skip counts of all stages, which share the limit of an epoch.
type tallies struct {
	all     []*skipCount
	allowed int64
}

// tally registers the count of a stage.
func (r *run) tally(t *skipCount) {
	r.mu.Lock()
	r.bad.all = append(r.bad.all, t)
	r.mu.Unlock()
}

// setTally restores the count of a stage that starts.
func (r *run) setTally(t *skipCount, to skipCount) {
	r.mu.Lock()
	*t = to
	r.mu.Unlock()
}

// beginTally is setTally for a source, which begins one epoch after another.
func (r *run) beginTally(t *skipCount, epoch int32, seen int64) {
	to := *t
	if epoch != to.epochs[1] {
		to.epochs[0], to.seen[0] = to.epochs[1], to.seen[1]
	}
	to.epochs[1], to.seen[1] = epoch, seen
	r.setTally(t, to)
}

// allow sets how many of records records may be skipped in an epoch; records is -1 if they were not
// counted, which only Share requires.
func (r *run) allow(records int64) {
	bad := r.opts.SkipBad
	most := mostSkipped(bad)
	if records > 0 {
		most = max(most, int64(math.Floor(bad.Share*float64(records))))
	}
	r.mu.Lock()
	r.bad.allowed = most
	r.mu.Unlock()
}

// skipped returns how many records of an epoch were skipped, and how many may be, in the run and its
// inputs.
func (r *run) skipped(epoch int32) (n, allowed int64) {
	allowed = r.bad.allowed
	for _, t := range r.bad.all {
		n += t.of(epoch)
	}
	for _, in := range r.inputs {
		of, most := in.skipped(epoch)
		n, allowed = n+of, allowed+most
	}
	return n, allowed
}

// skip counts and reports what is skipped; an error if that exceeds the limit.
func (r *run) skip(t *skipCount, s Skipped) error {
	r.mu.Lock()
	t.add(s.Epoch, s.Records)
	total, allowed := r.skipped(s.Epoch)
	r.mu.Unlock()
	if total > allowed {
		if allowed == 0 {
			return s.Err
		}
		return fmt.Errorf("%w (%w): %d in this epoch, of %d", s.Err, ErrTooManyBad, total, allowed)
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	r.logSkipped(s)
	if tell := r.opts.OnSkip; tell != nil {
		tell(s)
	}
	return nil
}

// skipRecord is skip for a record without a result.
func (r *run) skipRecord(t *skipCount, record Record, err error) error {
	return r.skip(t, Skipped{
		Path: r.data.Path(record), Record: record.Number, Offset: record.Offset,
		Records: 1, Bytes: int64(len(record.Data)) + tfrecord.Overhead, Epoch: record.Epoch, Err: r.locate(record, err),
	})
}

// passable reports whether a record that gave err may be skipped: not for an operating system
// error, a backend that does not work, a batch that is too large, a mistake of the program, nor
// during shutdown.
func (r *run) passable(err error) bool {
	var system *fs.PathError
	return maySkip(r.opts.SkipBad) && !errors.As(err, &system) && !errors.Is(err, errNoFunction) && !errors.Is(err, errBackend) && !errors.Is(err, columns.ErrPadding) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// locate adds file, record and offset to an error about a record.
func (r *run) locate(record Record, err error) error {
	e := tfrecord.Error{Name: r.data.Path(record), Record: record.Number, Offset: record.Offset, Part: tfrecord.PartParse, Err: err}
	var inner *tfrecord.Error
	if errors.As(err, &inner) && inner.Record < 0 {
		e.Part, e.Err = inner.Part, inner.Err
		if errors.Is(err, tfrecord.ErrMalformed) {
			e.Err = fmt.Errorf("byte %d of the record: %w", inner.Offset, inner.Err)
		}
	}
	return &e
}

// workFault is a record of a portion without a result.
type workFault struct {
	record int
	err    error
	count  skipCount // including it
}

// errBackend is an error of the backend itself, which SkipBad does not cover.
var errBackend = errors.New("the backend of the images failed")

// errNoFunction is a mistake of the program, which SkipBad does not cover.
var errNoFunction = errors.New("reader: MapWith got no function for a worker")

// maxLead is more than the number of records in any block.
const maxLead = 1 << 32
