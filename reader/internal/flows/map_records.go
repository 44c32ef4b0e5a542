package flows

import (
	"context"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// MapRecords returns the elements that functions of newWorker make of records.
func MapRecords[T any](p stages.Pipe, newWorker func() func(pipeline.Record) (T, error), o pipeline.MapOptions) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		if newWorker == nil {
			return nil, pipeline.ErrNoFunction
		}
		in, err := OpenWorkers(ctx, p, from, func(r *pipeline.Run) (WorkerSpec[*mapped[T]], error) {
			r.Calls = true
			return WorkerSpec[*mapped[T]]{
				Name:      "map",
				Makes:     "map",
				Cut:       Cutter{Size: pipeline.PortionOf(o), within: true},
				Workers:   o.Workers,
				waits:     pipeline.MapWaits(o, r.Opts.Parallelism),
				mayWait:   true,
				unordered: o.Unordered,
				Part:      1,
				Make:      func() *mapped[T] { return &mapped[T]{} },
				Begin:     (*mapped[T]).begin,
				Without:   (*mapped[T]).without,
				clear:     (*mapped[T]).clear,
				Bytes:     func(m *mapped[T]) int64 { return m.bytes.Load() },
				Work: func() func(*mapped[T], []pipeline.Record, int, int, func(int, error) bool) {
					f := newWorker()
					if f == nil {
						f = func(pipeline.Record) (v T, err error) { return v, pipeline.ErrNoFunction }
					}
					return func(m *mapped[T], records []pipeline.Record, from, to int, fail func(int, error) bool) {
						for i := from; i < to; i++ {
							v, err := f(records[i])
							if err != nil && !fail(i, err) {
								return
							}
							m.elements[i].Value = v
							if err == nil && o.Size != nil {
								m.bytes.Add(max(o.Size(v), 0))
							}
						}
					}
				},
			}, nil
		})
		if err != nil {
			return nil, err
		}
		return &mapSource[T]{in: in}, nil
	}
}

// mapped is the result of Map for a portion.
type mapped[T any] struct {
	elements []Element[T]
	faults   []pipeline.WorkFault // records without an element
	before   pipeline.SkipCount   // skipped before it
	left     atomic.Int32         // elements that were not dropped
	bytes    atomic.Int64         // of the elements, as far as known
	whole    *Element[*mapped[T]]
	free     func()
}

func (m *mapped[T]) begin(records []pipeline.Record) {
	if m.free == nil {
		m.free = func() {
			if m.left.Add(-1) == 0 {
				m.whole.Drop()
			}
		}
	}
	if cap(m.elements) < len(records) {
		m.elements = make([]Element[T], len(records))
	}
	m.elements = m.elements[:len(records)]
	m.left.Store(int32(len(records)))
	m.faults = nil
}

// clear drops the values, which may be large.
func (m *mapped[T]) clear() {
	var none T
	for i := range m.elements {
		m.elements[i].Value = none
	}
	m.bytes.Store(0)
}

func (m *mapped[T]) without(faults []pipeline.WorkFault, before pipeline.SkipCount) (left int) {
	m.faults, m.before = faults, before
	left = len(m.elements) - len(faults)
	m.left.Store(int32(left))
	return left
}

// mapSource returns the elements of mapped portions one by one.
type mapSource[T any] struct {
	in     Source[*mapped[T]]
	now    *Element[*mapped[T]]
	given  int                // elements of it that were returned,
	faults int                // and of its faults
	bad    pipeline.SkipCount // skipped up to there
}

func (s *mapSource[T]) Next() (*Element[T], error) {
	if s.now == nil {
		e, err := s.in.Next()
		if err != nil {
			return nil, err
		}
		s.now, s.given, s.faults, e.Value.whole = e, 0, 0, e
		s.bad = e.marks[0].bad
		if len(e.Value.faults) > 0 {
			s.bad = e.Value.before
		}
	}
	m := s.now.Value
	s.pass(m)
	e := &m.elements[s.given]
	s.given++
	// A portion is within one block, and its mark is after all of it.
	end := s.now.marks[0]
	end.block.Retain()
	e.free = m.free
	e.marks = append(e.marks, Mark{block: end.block, n: end.n - len(m.elements) + s.given, bad: s.bad})
	if s.pass(m); s.given == len(m.elements) {
		s.now = nil
	}
	return e, nil
}

// pass skips the records without an element.
func (s *mapSource[T]) pass(m *mapped[T]) {
	for s.faults < len(m.faults) && m.faults[s.faults].Record == s.given {
		s.bad = m.faults[s.faults].Count
		s.faults++
		s.given++
	}
}

func (s *mapSource[T]) Interrupt() { s.in.Interrupt() }

func (s *mapSource[T]) StartEpoch(epoch int64) error {
	for s.now != nil {
		e, _ := s.Next() // of the current portion
		e.Drop()
	}
	return s.in.StartEpoch(epoch)
}

func (s *mapSource[T]) State() pipeline.State  { return s.in.State() }
func (s *mapSource[T]) Running() *pipeline.Run { return s.in.Running() }

func (s *mapSource[T]) recycle() func(T) { return nil }
func (s *mapSource[T]) Close()           { s.in.Close() }
