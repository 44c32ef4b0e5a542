package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

var (
	// ErrClosed means that a set was used after Finish or Close.
	ErrClosed = errors.New("the set is closed")
	// ErrBadSample means that a record contradicts the options: Write did not add it, and the set
	// can go on without it.
	ErrBadSample = errors.New("bad sample")
	// ErrDuplicateKey means that two records of a split have one key.
	ErrDuplicateKey = errors.New("two records of a split have the same key")
)

// verb names this package in the state and the options of a set.
const verb = "write"

// Set is a set of records that is being written. All its methods may be called by several goroutines
// at a time. Only one process at a time can have the directory open.
type Set struct {
	ctx    context.Context
	o      Options
	dir    *setdir.Dir
	old    []string      // files of the set to be replaced
	places shares.Hasher // of keys, without InOrder
	splits splitChoice
	rows   *spill.Sorter
	labels map[string]int64 // id by name
	// isLabel has the keys of features with label ids: Options.LabelKey, and others that are stated.
	isLabel map[string]bool
	began   time.Time
	number  atomic.Uint64 // of the next record

	added, addedBytes, written atomic.Int64

	// open is held for reading by what adds to the set, and for writing by what ends it.
	open   sync.RWMutex
	closed bool

	mu    sync.Mutex
	free  []*lane
	lanes []*lane
	bad   []setdir.BadSample
	err   error // the first that makes the set unusable
}

// lane collects the records of one goroutine at a time.
type lane struct {
	frame   []byte // of the record that is being added
	rows    []byte // as spill.AppendRow encodes them
	scan    *features.Scan
	example tfrecord.Example
	sizes   []size // by number of the split
}

// size counts records and the bytes of their frames.
type size struct{ records, bytes int64 }

// laneBytes is the size of the rows that a lane collects before it sorts them.
const laneBytes = 256 << 10

// Create starts a set in the directory dir, which must be new or empty unless Options.Overwrite is
// set, and locks it until Finish or Close. Dir may be the URL of a directory in an object store. Files
// of an unfinished set, which a killed program left there, are removed. All work for the set ends when
// ctx is done.
//
// An invalid option is a *shard.OptionError; if another process holds the directory, the error
// unwraps to shard.ErrBusy.
func Create(ctx context.Context, dir string, o Options) (*Set, error) {
	if err := o.check(dir); err != nil {
		return nil, err
	}
	s := &Set{ctx: ctx, o: o, began: time.Now(), places: shares.NewHasher(o.Seed, shares.ForOrder), splits: newSplitChoice(&o)}
	s.nameLabels()
	if err := s.openDir(dir); err != nil {
		return nil, err
	}
	s.rows = spill.NewSorter(o.Memory, func() (spill.File, error) {
		f, err := s.dir.TempFile("write")
		if err != nil {
			return nil, err
		}
		return osfile.NewScratch(ctx, f), nil
	})
	return s, nil
}

// nameLabels prepares looking up labels.
func (s *Set) nameLabels() {
	s.labels, s.isLabel = make(map[string]int64, len(s.o.Labels)), map[string]bool{}
	for id, name := range s.o.Labels {
		s.labels[name] = int64(id)
	}
	if len(s.o.Labels) == 0 {
		return
	}
	for _, key := range append(manifest.LabelKeys(s.o.Features), s.o.LabelKey) {
		s.isLabel[key] = true
	}
}

// openDir opens the directory of the set and finds out what it replaces.
func (s *Set) openDir(dir string) (err error) {
	if !s.o.Overwrite {
		s.dir, err = setdir.OpenOut(s.ctx, dir, verb, "", setdir.Options{Note: s.o.Note})
		return err
	}
	if storage.Remote(dir) {
		return optionError("Overwrite", "%s: a set in an object store cannot be replaced in one step: write to a new directory, and remove the old set", dir)
	}
	m, err := setdir.View(s.ctx, dir).Manifest()
	if err != nil {
		return err
	}
	if m == nil {
		s.dir, err = setdir.OpenOut(s.ctx, dir, verb, "", setdir.Options{Note: s.o.Note})
		return err
	}
	if s.dir, err = setdir.Open(s.ctx, dir, setdir.Options{Note: s.o.Note}); err != nil {
		return err
	}
	if m, err = s.dir.Manifest(); err == nil && m == nil {
		err = fmt.Errorf("%s: its set was removed in the meantime", dir)
	}
	if err == nil {
		s.old, err = m.Files(), s.dir.Staged().Discard()
	}
	if err != nil {
		return errors.Join(err, s.dir.Close())
	}
	return nil
}

// Progress is the state of a set that is being written.
type Progress struct {
	Records int64 // added
	Bytes   int64 // of their frames, before compression
	Written int64 // records in shards; 0 until Finish
}

// Progress returns the current state.
func (s *Set) Progress() Progress {
	return Progress{s.added.Load(), s.addedBytes.Load(), s.written.Load()}
}

// BadSample is a sample that the program could not make a record of, as errors.jsonl lists it.
type BadSample struct {
	// Key of the sample.
	Key string
	// Source is the file or the object that the sample comes from, and Line its line there, from 1.
	// Default: none.
	Source string
	Line   int64
	// Stage is the step that failed: "read", "decode", "transform", "encode", "parse" or
	// "annotation".
	Stage string
	// Reason describes the fault in one line.
	Reason string
}

// Bad lists a sample in the ledger, errors.jsonl, in place of a record. It returns an error if there
// are more than Options.MaxErrors by now; Finish does, too.
func (s *Set) Bad(b BadSample) error {
	if !slices.Contains(setdir.Stages, b.Stage) {
		return fmt.Errorf("sample %q: unknown stage %q: want %s", b.Key, b.Stage, plural.OneOf(setdir.Stages))
	}
	s.open.RLock()
	defer s.open.RUnlock()
	if s.closed {
		return ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = append(s.bad, setdir.BadSample{Key: b.Key, Source: b.Source, Line: b.Line, Stage: b.Stage, Reason: b.Reason})
	return s.tooManyBad()
}

// tooManyBad returns an error if there are more bad samples than allowed. The caller holds mu.
func (s *Set) tooManyBad() error {
	if int64(len(s.bad)) <= s.o.MaxErrors {
		return nil
	}
	last := s.bad[len(s.bad)-1]
	return fmt.Errorf("%w: %d of them, more than the %d that %s allows; the last: %s: %s: %s",
		ErrBadSample, len(s.bad), s.o.MaxErrors, optname.OptionsMaxErrors, last.Key, last.Stage, last.Reason)
}

// Close removes everything that was written, unless Finish has succeeded, and unlocks the directory.
// A set that was to be replaced stays. Further calls do nothing.
func (s *Set) Close() error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.rows.Close()
	if s.old != nil {
		return errors.Join(err, s.dir.Staged().Abandon(), s.dir.Close())
	}
	return errors.Join(err, setdir.Forget(s.dir), s.dir.Close())
}

// fail notes an error after which the set cannot be finished, and returns it.
func (s *Set) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	return err
}

// take returns a lane that no other goroutine uses; give returns it.
func (s *Set) take() (*lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if n := len(s.free); n > 0 {
		l := s.free[n-1]
		s.free = s.free[:n-1]
		return l, nil
	}
	l := &lane{scan: features.NewScan()}
	s.lanes = append(s.lanes, l)
	return l, nil
}

func (s *Set) give(l *lane) {
	s.mu.Lock()
	s.free = append(s.free, l)
	s.mu.Unlock()
}

// place returns the sort key of the next record within its split.
func (s *Set) place(key string) uint64 {
	if s.o.InOrder {
		return s.number.Add(1) - 1
	}
	return s.places.Key(key)
}

// add adds a row to a lane.
func (s *Set) add(l *lane, at *row) error {
	l.rows = at.append(l.rows)
	for len(l.sizes) <= int(at.split) {
		l.sizes = append(l.sizes, size{})
	}
	n := &l.sizes[at.split]
	n.records++
	n.bytes += int64(len(at.frame))
	s.added.Add(1)
	s.addedBytes.Add(int64(len(at.frame)))
	if len(l.rows) < laneBytes {
		return nil
	}
	return s.sort(l)
}

// sort hands the rows of a lane to the sorter.
func (s *Set) sort(l *lane) error {
	err := s.rows.Add(l.rows)
	l.rows = l.rows[:0]
	if cap(l.rows) > 4*laneBytes {
		l.rows = nil // grown for a very large record
	}
	if err != nil {
		return s.fail(fmt.Errorf("%s: sort records: %w", s.dir.Path(), err))
	}
	return nil
}

// note passes a sentence to the caller.
func (s *Set) note(r *Report, format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	r.Notes = append(r.Notes, sentence)
	if s.o.Note != nil {
		s.o.Note(sentence)
	}
}

// Report describes a finished set.
type Report struct {
	// Manifest of the set: the splits with their shards and counts, the features, the labels.
	Manifest *manifest.Manifest
	// Notes are sentences that users should read.
	Notes []string
	// Seconds since Create.
	Seconds float64
}
