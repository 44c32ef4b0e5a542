package pipeline

import (
	"cmp"
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
	StateVersion = 3
)

// State is the position of a consumer: after Start with it the next element is the one that
// follows. It is small (positions in files, never data), plain JSON, and only valid for the same
// dataset, wherever it is stored, and the same stages.
//
// Resuming costs reading one block again. After a Flow.Shuffle of n elements it costs reading
// about n·(ln n + 1) elements to refill the buffer; for compressed files also what precedes the
// position in each of the open ones. A Flow.Cache that is not complete on disk
// makes its epoch again from the beginning.
type State struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Dataset is the fingerprint of the files (see Set.Fingerprint).
	Dataset string `json:"dataset"`
	// Worker and Workers are as in [Options]. A global order may be resumed with other Workers: see
	// From.
	Worker  int `json:"worker"`
	Workers int `json:"workers"`
	// Epoch is the consumer's current epoch (see From).
	Epoch int64 `json:"epoch"`
	// Skip is the number of elements received after the position in Stages.
	Skip int64 `json:"skip"`
	// Stages are the positions of the stages, source first. At is private to the stage, nil at the
	// beginning.
	Stages []StagePosition `json:"stages"`
	// Merged are the States of former workers, by number: see MergeStates.
	Merged []State `json:"merged,omitempty"`
	// Flow are the positions of the stages of a [Flow] that have one, such as Flow.Take, first
	// stage first. Empty without such stages.
	Flow []StagePosition `json:"flow,omitempty"`
	// Making describes the stages of a [Flow], first stage first, with the settings that its
	// elements depend on; the functions of the stages are not in it. Empty for a Pipe, and from
	// MergeStates. Resuming returns an error if the flow is made differently, unless the number of
	// workers changes.
	Making []string `json:"making,omitempty"`
	// Skipped is the number of records without a result in the current epochs, if [SkipBad] allows
	// them: at most two pairs of epoch and number.
	Skipped [][2]int64 `json:"skipped,omitempty"`
}

// SetSkipped records the skip count of a flow.
func SetSkipped(s *State, t SkipCount) {
	s.Skipped = nil
	for i, n := range t.seen {
		if n > 0 {
			s.Skipped = append(s.Skipped, [2]int64{int64(t.epochs[i]), n})
		}
	}
}

// SkippedIn decodes Skipped.
func SkippedIn(s *State) (t SkipCount) {
	for i, counted := range s.Skipped {
		slot := i + 2 - len(s.Skipped)
		t.epochs[slot], t.seen[slot] = int32(counted[0]), counted[1]
	}
	return t
}

// CloneState returns a copy that shares no memory.
func CloneState(s *State) State {
	c := *s
	c.Skipped, c.Stages, c.Flow, c.Merged = slices.Clone(s.Skipped), slices.Clone(s.Stages), slices.Clone(s.Flow), slices.Clone(s.Merged)
	c.Making = slices.Clone(s.Making)
	for _, stages := range [][]StagePosition{c.Stages, c.Flow} {
		for i := range stages {
			stages[i].At = slices.Clone(stages[i].At)
		}
	}
	for i := range c.Merged {
		c.Merged[i] = CloneState(&c.Merged[i])
	}
	return c
}

// StagePosition is the position of a stage, in numbers of its own.
type StagePosition struct {
	Name string  `json:"name"`
	At   []int64 `json:"at"`
}

// Position is the position of the stages of a pipeline: a section for each, source first, each
// followed by its length. nil is the beginning. After the last stage's, the stream adds a section
// with the epoch.
type Position []int64

// Push appends the section of the next stage.
func (p Position) Push(words ...int64) Position {
	return append(append(p, words...), int64(len(words)))
}

// Pop removes the last section. Both results are nil for the beginning.
func (p Position) Pop() (own []int64, before Position) {
	if len(p) == 0 {
		return nil, nil
	}
	last := len(p) - 1
	n := int(p[last])
	return p[last-n : last], p[:last-n]
}

// Split cuts off the last n sections, or fewer if there are not as many.
func (p Position) Split(n int) (last, before Position) {
	before = p
	for ; n > 0; n-- {
		_, before = before.Pop()
	}
	return p[len(before):], before
}

// Fill appends a position to dst with n sections. Missing ones, for its first stages, are empty.
func (p Position) Fill(dst Position, n int) Position {
	for before := p; len(before) > 0; n-- {
		_, before = before.Pop()
	}
	for ; n > 0; n-- {
		dst = dst.Push()
	}
	return append(dst, p...)
}

// State returns the State for a position and n elements after it.
func (r *Run) State(at Position, n int64) State {
	if r.StateAt != nil {
		_, at = at.Pop()
		return r.StateAt(at, n)
	}
	s := State{
		Format: StateFormat, Version: StateVersion, Dataset: r.Fingerprint,
		Worker: r.Opts.Worker, Workers: r.Opts.Workers, Skip: n,
		Stages: make([]StagePosition, len(r.Names)),
	}
	own, at := at.Pop()
	s.Epoch = own[0]
	for i, name := range slices.Backward(r.Names) {
		own, at = at.Pop()
		s.Stages[i] = StagePosition{Name: name, At: slices.Clone(own)}
	}
	return s
}

// MaxSkip bounds Skip of a valid state.
const MaxSkip = 1 << 40

// Position decodes a State of this pipeline. It converts one of another worker to this one.
func (r *Run) Position(s *State) (Position, error) {
	refuse := func(format string, args ...any) (Position, error) {
		return nil, fmt.Errorf("resume: %w: "+format, append([]any{ErrState}, args...)...)
	}
	switch {
	case s.Format != StateFormat:
		return refuse("its format is %q, not %q", s.Format, StateFormat)
	case s.Version != StateVersion:
		return refuse("its version is %d, not %d", s.Version, StateVersion)
	case CheckEpoch(s.Epoch) != nil:
		return refuse("epoch is %d", s.Epoch)
	case s.Dataset != r.Fingerprint:
		return refuse("it is of the dataset %s, this is %s", s.Dataset, r.Fingerprint)
	case len(s.Stages) != len(r.Names):
		return refuse("it has %d stages, this has %d", len(s.Stages), len(r.Names))
	case len(s.Flow) > 0:
		return refuse("it has a position of %s, which is not a stage here", s.Flow[len(s.Flow)-1].Name)
	case s.Skip < 0 || s.Skip > MaxSkip:
		return refuse("skip is %d", s.Skip)
	}
	if err := CheckSkipped(s); err != nil {
		return refuse("%v", err)
	}
	if err := movedTo(r, s); err != nil {
		return refuse("%v", err)
	}
	var at Position
	begun := false
	for i, stage := range s.Stages {
		if stage.Name != r.Names[i] {
			return refuse("its stage %d is %s, here it is %s", i, stage.Name, r.Names[i])
		}
		begun = begun || stage.At != nil
		at = at.Push(stage.At...)
	}
	if !begun {
		at = nil
	}
	return at, nil
}

// CheckSkipped checks what SkippedIn decodes.
func CheckSkipped(s *State) error {
	if len(s.Skipped) > 2 {
		return fmt.Errorf("skipped has %d entries", len(s.Skipped))
	}
	for _, counted := range s.Skipped {
		if counted[0] != int64(int32(counted[0])) || counted[1] < 0 || counted[1] > MaxSkip {
			return fmt.Errorf("skipped is %v", s.Skipped)
		}
	}
	return nil
}

// movedTo converts a state of another worker to this one, if the order of the records is the same
// for all of them.
func movedTo(r *Run, s *State) error {
	o := r.Opts
	if s.Worker == o.Worker && s.Workers == o.Workers {
		return nil
	}
	switch {
	case !IsGlobal(s):
		return fmt.Errorf("it is of worker %d of %d, this is %d of %d; only a global order and Repeat can be divided again from one State, others from those of all workers with MergeStates",
			s.Worker, s.Workers, o.Worker, o.Workers)
	case s.Workers < 1 || s.Workers > MaxParts || s.Stages[0].At != nil && len(s.Stages[0].At) != GlobalWords:
		return ErrPosition(r.Names[0])
	}
	source := slices.Clone(s.Stages[0].At)
	if source == nil && s.Skip > 0 {
		source = make([]int64, GlobalWords)
	}
	if source != nil {
		source[0] = ReceivedOf(s)
	}
	s.Stages = slices.Clone(s.Stages)
	s.Stages[0].At, s.Skip = source, 0
	return nil
}

// IsGlobal reports whether the order is global, and may begin anywhere.
func IsGlobal(s *State) bool {
	for i, stage := range s.Stages {
		kind, _, _ := strings.Cut(stage.Name, "(")
		if source := kind == "shuffle_all" || kind == "sample"; i == 0 && !source || i > 0 && kind != "repeat" {
			return false
		}
	}
	return len(s.Stages) > 0 && len(s.Merged) == 0
}

// ReceivedOf returns how many elements of the pass all workers have received of a global order, if
// they are at the same step.
func ReceivedOf(s *State) int64 {
	n := s.Skip * int64(s.Workers)
	if at := s.Stages[0].At; len(at) > 0 {
		n += at[0]
	}
	return n
}

// SameMaking returns an error for a State of a flow that is made differently. It accepts any with
// another number of workers: batches then start over, and may have another size.
func (r *Run) SameMaking(s *State) error {
	if len(s.Making) == 0 || s.Workers != r.Opts.Workers {
		return nil
	}
	here := r.Made()
	for i := range max(len(s.Making), len(here)) {
		was, is := "", ""
		if i < len(s.Making) {
			was = s.Making[i]
		}
		if i < len(here) {
			is = here[i]
		}
		if was != is {
			return fmt.Errorf("resume: %w: its flow is made with %s, here it is %s", ErrState, cmp.Or(was, "nothing more"), cmp.Or(is, "nothing more"))
		}
	}
	return nil
}

// ErrPosition is the error for a section that no stage of this kind wrote.
func ErrPosition(name string) error {
	return fmt.Errorf("resume: %w: the position of %s is invalid", ErrState, name)
}

// GlobalWords is the length of a position's section: an index in the order, and the damage skipped
// so far in the epoch.
const GlobalWords = 2

// maxEpoch bounds epochs, which Record stores in 32 bits.
const maxEpoch = 1<<31 - 1

func CheckEpoch(epoch int64) error {
	if epoch < 0 || epoch > maxEpoch {
		return fmt.Errorf("reader: epoch %d: want 0 to %d", epoch, maxEpoch)
	}
	return nil
}
