package reader

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrState means that a [State] does not match the pipeline: it is of another dataset, other stages
// or other settings.
var ErrState = errors.New("state of another pipeline")

// StateFormat and StateVersion identify the format of a [State].
const (
	StateFormat  = "tfrec.reader.state"
	StateVersion = 2
)

// State records what a consumer has received: after [Pipe.Resume] the next record is the one that
// follows. It is small (positions in files, never data), plain JSON, and only valid for the same
// dataset, wherever it is stored, and the same stages.
//
// Resuming costs reading one block again. After a [Pipe.Shuffle] of n elements it costs reading
// about n·(ln n + 1) elements to refill the buffer; for compressed files also what precedes the
// position in each of the open ones. A [Pipe.Cache] that is not complete on disk reads its epoch
// again from the beginning.
type State struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Dataset is the fingerprint of the files (see [Set.Fingerprint]).
	Dataset string `json:"dataset"`
	// Worker and Workers are as in [Options]. A global order may be resumed with other Workers: see
	// [Pipe.Resume].
	Worker  int `json:"worker"`
	Workers int `json:"workers"`
	// Epoch is the consumer's current epoch (see [Pipe.StartEpoch]).
	Epoch int64 `json:"epoch"`
	// Skip is the number of elements received after the position in Stages.
	Skip int64 `json:"skip"`
	// Stages are the positions of the stages, source first. At is private to the stage, nil at the
	// beginning.
	Stages []StagePosition `json:"stages"`
	// Skipped is the number of records without a result in the current epochs, if [SkipBad] allows
	// them: at most two pairs of epoch and number.
	Skipped [][2]int64 `json:"skipped,omitempty"`
}

// setTally records the skip count of a flow.
func (s *State) setTally(t skipCount) {
	s.Skipped = nil
	for i, n := range t.seen {
		if n > 0 {
			s.Skipped = append(s.Skipped, [2]int64{int64(t.epochs[i]), n})
		}
	}
}

// tally decodes Skipped.
func (s *State) tally() (t skipCount) {
	for i, counted := range s.Skipped {
		slot := i + 2 - len(s.Skipped)
		t.epochs[slot], t.seen[slot] = int32(counted[0]), counted[1]
	}
	return t
}

// clone returns a copy that shares no memory.
func (s *State) clone() State {
	c := *s
	c.Skipped, c.Stages = slices.Clone(s.Skipped), slices.Clone(s.Stages)
	for i := range c.Stages {
		c.Stages[i].At = slices.Clone(c.Stages[i].At)
	}
	return c
}

// StagePosition is the position of a stage, in numbers of its own.
type StagePosition struct {
	Name string  `json:"name"`
	At   []int64 `json:"at"`
}

// position is the position of the stages of a pipeline: a section for each, source first, each
// followed by its length. nil is the beginning. After the last stage's, the stream adds a section
// with the epoch.
type position []int64

// push appends the section of the next stage.
func (p position) push(words ...int64) position {
	return append(append(p, words...), int64(len(words)))
}

// pop removes the last section. Both results are nil for the beginning.
func (p position) pop() (own []int64, before position) {
	if len(p) == 0 {
		return nil, nil
	}
	last := len(p) - 1
	n := int(p[last])
	return p[last-n : last], p[:last-n]
}

// state returns the State for a position and n elements after it.
func (r *run) state(at position, n int64) State {
	s := State{
		Format: StateFormat, Version: StateVersion, Dataset: r.set.fingerprint,
		Worker: r.set.opts.Worker, Workers: r.set.opts.Workers, Skip: n,
		Stages: make([]StagePosition, len(r.names)),
	}
	own, at := at.pop()
	s.Epoch = own[0]
	for i, name := range slices.Backward(r.names) {
		own, at = at.pop()
		s.Stages[i] = StagePosition{Name: name, At: slices.Clone(own)}
	}
	return s
}

// maxSkip bounds Skip of a valid state.
const maxSkip = 1 << 40

// position decodes a State of this pipeline. It converts one of another worker to this one.
func (r *run) position(s *State) (position, error) {
	refuse := func(format string, args ...any) (position, error) {
		return nil, fmt.Errorf("resume: %w: "+format, append([]any{ErrState}, args...)...)
	}
	switch {
	case s.Format != StateFormat:
		return refuse("its format is %q, not %q", s.Format, StateFormat)
	case s.Version != StateVersion && (s.Version != 1 || s.Epoch != 0): // version 1 had no epochs
		return refuse("its version is %d, not %d", s.Version, StateVersion)
	case checkEpoch(s.Epoch) != nil:
		return refuse("epoch is %d", s.Epoch)
	case s.Dataset != r.set.fingerprint:
		return refuse("it is of the dataset %s, this is %s", s.Dataset, r.set.fingerprint)
	case len(s.Stages) != len(r.names):
		return refuse("it has %d stages, this has %d", len(s.Stages), len(r.names))
	case s.Skip < 0 || s.Skip > maxSkip:
		return refuse("skip is %d", s.Skip)
	case len(s.Skipped) > 2:
		return refuse("skipped has %d entries", len(s.Skipped))
	}
	if err := r.movedTo(s); err != nil {
		return refuse("%v", err)
	}
	for _, counted := range s.Skipped {
		if counted[0] != int64(int32(counted[0])) || counted[1] < 0 || counted[1] > maxSkip {
			return refuse("skipped is %v", s.Skipped)
		}
	}
	var at position
	begun := false
	for i, stage := range s.Stages {
		if stage.Name != r.names[i] {
			return refuse("its stage %d is %s, here it is %s", i, stage.Name, r.names[i])
		}
		begun = begun || stage.At != nil
		at = at.push(stage.At...)
	}
	if !begun {
		at = nil
	}
	return at, nil
}

// movedTo converts a state of another worker to this one, if the order of the records is the same
// for all of them.
func (r *run) movedTo(s *State) error {
	o := r.set.opts
	if s.Worker == o.Worker && s.Workers == o.Workers {
		return nil
	}
	global := strings.HasPrefix(r.names[0], "shuffle_all(")
	for _, name := range r.names[1:] {
		global = global && strings.HasPrefix(name, "repeat(")
	}
	source := slices.Clone(s.Stages[0].At)
	switch {
	case !global:
		return fmt.Errorf("it is of worker %d of %d, this is %d of %d; only a global order and Repeat can be divided again",
			s.Worker, s.Workers, o.Worker, o.Workers)
	case s.Workers < 1 || s.Workers > maxParts || source != nil && len(source) != globalWords:
		return errPosition(r.names[0])
	case source == nil && s.Skip > 0:
		source = make([]int64, globalWords)
	}
	if source != nil {
		source[0] += s.Skip * int64(s.Workers)
	}
	s.Stages = slices.Clone(s.Stages)
	s.Stages[0].At, s.Skip = source, 0
	return nil
}

// errPosition is the error for a section that no stage of this kind wrote.
func errPosition(name string) error {
	return fmt.Errorf("resume: %w: the position of %s is invalid", ErrState, name)
}
