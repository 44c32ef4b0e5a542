package flows

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Most stages of a flow have no position: an element's State is the one of its last record. Stages
// that count or hold elements add a section to [State.Flow].

// flowPosition is the section of a stage after an element, linked to the sections of the stages
// before it. It never changes, so that marks share it.
type flowPosition struct {
	stage  pipeline.StagePosition
	before *flowPosition
	epoch  int64 // 1 + the epoch of a Repeat, whose passes are epochs of the stages before; 0: none
}

// outer returns the epoch of the last Repeat of the flow, for a state of the stages before.
func (p *flowPosition) outer(epoch int64) int64 {
	for ; p != nil; p = p.before {
		if p.epoch > 0 {
			return p.epoch - 1
		}
	}
	return epoch
}

// appendTo appends a copy of the sections, first stage first.
func (p *flowPosition) appendTo(sections []pipeline.StagePosition) []pipeline.StagePosition {
	if p == nil {
		return sections
	}
	return appendSection(p.before.appendTo(sections), p.stage.Name, p.stage.At)
}

func appendSection(sections []pipeline.StagePosition, name string, at []int64) []pipeline.StagePosition {
	return append(sections, pipeline.StagePosition{Name: name, At: slices.Clone(at)})
}

// flowStage makes the sections of a stage. They are allocated many at a time.
type flowStage struct {
	name  string
	nodes []flowPosition
	words []int64
}

// after adds the section of the stage to a mark.
func (s *flowStage) after(m Mark, at ...int64) Mark {
	const slab = 64
	if len(s.nodes) == 0 {
		s.nodes = make([]flowPosition, slab)
	}
	if len(s.words) < len(at) {
		s.words = make([]int64, slab+len(at))
	}
	n := copy(s.words, at)
	s.nodes[0] = flowPosition{pipeline.StagePosition{Name: s.name, At: s.words[:n:n]}, m.flow, 0}
	m.flow = &s.nodes[0]
	s.nodes, s.words = s.nodes[1:], s.words[n:]
	return m
}

// start adds the section of the stage to the State before the first element of an epoch.
func (s *flowStage) start(before pipeline.State, at ...int64) pipeline.State {
	before.Flow = appendSection(slices.Clip(before.Flow), s.name, at)
	return before
}

// beginStage opens the flow before a stage with a section, and returns the section: nil at the
// beginning of an epoch, else of least to most numbers, each from 0 to MaxSkip.
func beginStage[T any](ctx context.Context, f Flow[T], from pipeline.Origin, name string, least, most int) (in Source[T], at []int64, err error) {
	if at, err = popOrigin(&from, name, least, most); err != nil {
		return nil, nil, err
	}
	in, err = beginBefore(ctx, f, from, name)
	return in, at, err
}

// popOrigin removes the section of a stage from an origin, and returns it: nil at the beginning of an
// epoch.
func popOrigin(from *pipeline.Origin, name string, least, most int) ([]int64, error) {
	if from.State == nil {
		return nil, nil
	}
	before := *from.State
	at, err := popFlow(&before, name)
	if err != nil {
		return nil, err
	}
	if len(at) < least || len(at) > most || slices.ContainsFunc(at, func(n int64) bool { return n < 0 || n > pipeline.MaxSkip }) {
		return nil, pipeline.ErrPosition(name)
	}
	from.State = &before
	return at, nil
}

// beginBefore opens the flow before a stage at an origin without the stage's section.
func beginBefore[T any](ctx context.Context, f Flow[T], from pipeline.Origin, name string) (Source[T], error) {
	in, err := f.Begin(ctx, from)
	if err != nil {
		return nil, err
	}
	if from.State != nil {
		if err := sameWorker(in.Running(), from.State, name); err != nil {
			in.Close()
			return nil, err
		}
	}
	return in, nil
}

// sameWorker returns an error for a State of another worker, whose flow has the named stage.
func sameWorker(r *pipeline.Run, s *pipeline.State, name string) error {
	if o := r.Opts; s.Worker != o.Worker || s.Workers != o.Workers {
		return fmt.Errorf("resume: %w: it is of worker %d of %d, this is %d of %d; a flow with %s cannot be divided again",
			pipeline.ErrState, s.Worker, s.Workers, o.Worker, o.Workers, name)
	}
	return nil
}

// popFlow removes the last section of Flow, which must belong to the named stage.
func popFlow(s *pipeline.State, name string) ([]int64, error) {
	n := len(s.Flow)
	if n == 0 {
		return nil, fmt.Errorf("resume: %w: it has no position of %s", pipeline.ErrState, name)
	}
	last := s.Flow[n-1]
	if last.Name != name {
		return nil, fmt.Errorf("resume: %w: its last flow stage is %s, here it is %s", pipeline.ErrState, last.Name, name)
	}
	s.Flow = s.Flow[:n-1]
	return last.At, nil
}

// advance adds the section of a stage to an element. It keeps only the last mark: the stage has no
// position within an element.
func (e *Element[T]) advance(s *flowStage, at ...int64) {
	last := len(e.marks) - 1
	for i := range last {
		e.marks[i].release()
	}
	m := s.after(e.marks[last], at...)
	clear(e.marks[1:])
	e.marks = append(e.marks[:0], m)
	if hasState[T]() {
		setMark(e.Value, m)
	}
}

// ofEpoch gives the element, which the stage of a Repeat advanced, the epoch of that.
func (e *Element[T]) ofEpoch(epoch int64) {
	e.Last().flow.epoch = epoch + 1
	if hasState[T]() {
		setMark(e.Value, e.Last())
	}
}

// resumeFrom is advance for a stage that makes elements again from a saved position.
func (e *Element[T]) resumeFrom(saved *pipeline.State, s *flowStage, at ...int64) {
	m := &e.marks[len(e.marks)-1]
	m.saved, m.flow = saved, nil
	e.advance(s, at...)
}

// marked is a batch with a State method.
type marked interface{ setMark(Mark) }

// hasState reports whether values have a State method.
func hasState[T any]() bool {
	var v T
	_, ok := any(v).(marked)
	return ok
}
