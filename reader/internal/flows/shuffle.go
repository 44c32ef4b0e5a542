package flows

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Shuffle returns the elements of f in a random order. seed is used if the options have none.
func Shuffle[T any](f Flow[T], o stages.ShuffleOptions, seed uint64) Flow[T] {
	if o.Seed != nil {
		seed = *o.Seed
	}
	name := o.Name(seed)
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		if err := o.Check(); err != nil {
			return nil, err
		}
		in, at, err := beginStage(ctx, f, from, name, 3, 3)
		if err != nil {
			return nil, err
		}
		run := in.Running()
		run.Makes(name)
		s := &shuffled[T]{
			in: in, stage: flowStage{name: name}, stats: run.Stats(name), same: o.SameEachEpoch, size: o.Buffer,
			// Two shuffles of a pipeline must not draw the same numbers, and neither must one of its records.
			key: pipeline.Key(seed, pipeline.ForShuffle, 1<<32+uint64(len(run.Made()))),
		}
		epoch := from.Epoch
		if from.State != nil {
			epoch = from.State.Epoch
		}
		if s.begin(epoch, at); at != nil {
			if err := s.refill(at[0], at[1], at[2]-1); err != nil {
				s.Close()
				return nil, err
			}
		}
		return s, nil
	}
}

// shuffled is a running Shuffle. As with records, element i of the epoch comes from the slot that
// draw i gives, so that the number of elements given determines the content of the buffer.
//
// Its position is one of the flow before, and in numbers: the number of the element after that position,
// the elements given, and one more than the elements of the epoch (0 before its end was seen). A position
// does not wait for the element that takes the slot of the last one given: to resume, that one is drawn
// again and dropped.
type shuffled[T any] struct {
	in    Source[T]
	stage flowStage
	stats *pipeline.Counters
	size  int
	key   uint64
	same  bool

	draws  pipeline.Draws
	slots  []shuffleSlot[T]
	came   int64 // elements of the epoch that were taken
	given  int64
	total  int64 // elements of the epoch; -1 before its end was seen
	free   int   // the slot that was drawn last, and is not filled again; -1: none
	pass   int32 // of the last element; -1: not known
	marks  []*shuffleAnchor
	last   Mark // after the last element that was taken
	before pipeline.State
}

// shuffleSlot holds an element of the buffer.
type shuffleSlot[T any] struct {
	e    *Element[T]
	from *shuffleAnchor
}

// shuffleAnchor is a position to read again from.
type shuffleAnchor struct {
	first int64 // number in the epoch of the next element
	state pipeline.State
	live  int // elements in the buffer from between this anchor and the next
}

// begin makes an epoch the current one, at a section. The flow before has started.
func (s *shuffled[T]) begin(epoch int64, at []int64) {
	if s.same {
		epoch = 0
	}
	s.draws = pipeline.Draws(pipeline.Key(s.key, uint64(epoch)))
	s.came, s.given, s.total, s.free, s.pass = 0, 0, -1, -1, -1
	start := s.in.State()
	s.last = Mark{saved: &start}
	if at == nil {
		at = make([]int64, 3)
	}
	s.before = s.stage.start(start, at...)
}

// drop empties the buffer.
func (s *shuffled[T]) drop() {
	for _, slot := range s.slots {
		if slot.e != nil {
			slot.e.Drop()
		}
	}
	clear(s.slots)
	s.slots, s.marks = s.slots[:0], nil
	s.last.release()
	s.last = Mark{}
}

// receive returns the next element of the flow before, and the anchor to which it belongs; io.EOF at the
// end of the epoch.
func (s *shuffled[T]) receive() (shuffleSlot[T], error) {
	if s.total >= 0 {
		return shuffleSlot[T]{}, io.EOF
	}
	// Fewer anchors take less memory; more of them mean less to make again.
	if n := len(s.marks); n == 0 || s.came-s.marks[n-1].first >= int64(s.size/8) {
		s.marks = append(s.marks, &shuffleAnchor{first: s.came, state: s.last.State()})
	}
	watch := s.stats.Watch()
	e, err := s.in.Next()
	watch.Waited()
	if err == io.EOF {
		s.total = s.came
	}
	if err != nil {
		return shuffleSlot[T]{}, err
	}
	if pass := e.Epoch(); pass >= 0 && pass != s.pass {
		if s.pass >= 0 && s.in.Running().Opts.BatchWithinEpoch {
			e.Drop()
			return shuffleSlot[T]{}, errors.New("reader: BatchWithinEpoch, and a Shuffle after a Repeat, which mixes passes: repeat last")
		}
		s.pass = pass
	}
	s.came++
	s.last.release()
	s.last = e.Last().retain()
	return shuffleSlot[T]{e, s.marks[len(s.marks)-1]}, nil
}

// fill fills the buffer, as far as there are elements.
func (s *shuffled[T]) fill() error {
	for s.free >= 0 || len(s.slots) < s.size && s.total < 0 {
		slot, err := s.receive()
		if err != nil && err != io.EOF {
			return err
		}
		switch i := s.free; {
		case err == nil && i >= 0:
			s.slots[i] = slot
		case err == nil:
			s.slots = append(s.slots, slot)
		case i >= 0:
			last := len(s.slots) - 1
			s.slots[i], s.slots[last] = s.slots[last], shuffleSlot[T]{}
			s.slots = s.slots[:last]
		}
		if s.free = -1; err == nil {
			slot.from.live++
		}
	}
	return nil
}

func (s *shuffled[T]) Next() (*Element[T], error) {
	if err := s.fill(); err != nil {
		return nil, err
	}
	if len(s.slots) == 0 {
		return nil, io.EOF
	}
	oldest := s.oldest()
	i := s.draws.Below(s.given, len(s.slots))
	e := s.slots[i].e
	s.slots[i].from.live--
	s.slots[i], s.free = shuffleSlot[T]{}, i
	s.given++
	e.resumeFrom(&oldest.state, &s.stage, oldest.first, s.given, s.total+1)
	s.stats.Elements.Add(1)
	return e, nil
}

// oldest returns the last anchor before everything in the buffer.
func (s *shuffled[T]) oldest() *shuffleAnchor {
	i := 0
	for i+1 < len(s.marks) && s.marks[i].live == 0 {
		i++
	}
	s.marks = s.marks[i:]
	return s.marks[0]
}

// refill restores the buffer as it was after given elements, making again what follows element first.
func (s *shuffled[T]) refill(first, given, total int64) error {
	if given == 0 && first == 0 && total < 0 {
		return nil // the beginning
	}
	if given == 0 || total >= 0 && given > total {
		return pipeline.ErrPosition(s.stage.name)
	}
	given-- // the last one is drawn again
	held, order := stages.HeldBy(s.draws, s.size, given, total)
	s.came, s.given, s.total = first, given, -1
	s.slots = append(s.slots, make([]shuffleSlot[T], len(held))...)
	until := given + int64(s.size)
	if total >= 0 {
		until = total
	}
	for s.came < until {
		number := s.came
		slot, err := s.receive()
		if err == io.EOF {
			return fmt.Errorf("resume: %w: it has more elements of %s than there are", pipeline.ErrState, s.stage.name)
		}
		if err != nil {
			return err
		}
		if len(order) > 0 && held[order[0]] == number {
			slot.from.live++
			s.slots[order[0]] = slot
			order = order[1:]
		} else {
			slot.e.Drop()
		}
	}
	if len(order) > 0 {
		return pipeline.ErrPosition(s.stage.name)
	}
	if total >= 0 {
		slot, err := s.receive()
		if err == nil {
			slot.e.Drop()
			return pipeline.ErrPosition(s.stage.name)
		}
		if err != io.EOF {
			return err
		}
	}
	e, err := s.Next()
	if err == nil {
		e.Drop()
	}
	return err
}

func (s *shuffled[T]) Interrupt() { s.in.Interrupt() }

func (s *shuffled[T]) StartEpoch(epoch int64) error {
	s.drop()
	if err := s.in.StartEpoch(epoch); err != nil {
		return err
	}
	s.begin(epoch, nil)
	return nil
}

func (s *shuffled[T]) State() pipeline.State  { return s.before }
func (s *shuffled[T]) Running() *pipeline.Run { return s.in.Running() }
func (s *shuffled[T]) recycle() func(T)       { return s.in.recycle() }

func (s *shuffled[T]) Close() {
	s.drop()
	s.in.Close()
}
