package reader

import (
	"context"
	"errors"
	"sync/atomic"
)

// flowMapRecords returns the elements that functions of newWorker make of records.
func flowMapRecords[T any](p chain, newWorker func() func(Record) (T, error), o MapOptions) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		if newWorker == nil {
			return nil, errors.New("reader: Map without a function")
		}
		in, err := openWorkers(ctx, p, from, func(r *run) (workerSpec[*mapped[T]], error) {
			return workerSpec[*mapped[T]]{
				name:      "map",
				makes:     "map",
				cut:       cutter{size: portionOf(o), within: true},
				workers:   o.Workers,
				waits:     mapWaits(o, r.opts.Parallelism),
				unordered: o.Unordered,
				part:      1,
				make:      func() *mapped[T] { return &mapped[T]{} },
				begin:     (*mapped[T]).begin,
				without:   (*mapped[T]).without,
				clear:     (*mapped[T]).clear,
				bytes:     func(m *mapped[T]) int64 { return m.bytes.Load() },
				work: func() func(*mapped[T], []Record, int, int, func(int, error) bool) {
					f := newWorker()
					if f == nil {
						f = func(Record) (v T, err error) { return v, errNoFunction }
					}
					return func(m *mapped[T], records []Record, from, to int, fail func(int, error) bool) {
						for i := from; i < to; i++ {
							v, err := f(records[i])
							if err != nil && !fail(i, err) {
								return
							}
							m.elements[i].value = v
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
	elements []element[T]
	faults   []workFault  // records without an element
	before   skipCount    // skipped before it
	left     atomic.Int32 // elements that were not dropped
	bytes    atomic.Int64 // of the elements, as far as known
	whole    *element[*mapped[T]]
	free     func()
}

func (m *mapped[T]) begin(records []Record) {
	if m.free == nil {
		m.free = func() {
			if m.left.Add(-1) == 0 {
				m.whole.drop()
			}
		}
	}
	if cap(m.elements) < len(records) {
		m.elements = make([]element[T], len(records))
	}
	m.elements = m.elements[:len(records)]
	m.left.Store(int32(len(records)))
	m.faults = nil
}

// clear drops the values, which may be large.
func (m *mapped[T]) clear() {
	var none T
	for i := range m.elements {
		m.elements[i].value = none
	}
	m.bytes.Store(0)
}

func (m *mapped[T]) without(faults []workFault, before skipCount) (left int) {
	m.faults, m.before = faults, before
	left = len(m.elements) - len(faults)
	m.left.Store(int32(left))
	return left
}

// mapSource returns the elements of mapped portions one by one.
type mapSource[T any] struct {
	in     source[*mapped[T]]
	now    *element[*mapped[T]]
	given  int       // elements of it that were returned,
	faults int       // and of its faults
	bad    skipCount // skipped up to there
}

func (s *mapSource[T]) next() (*element[T], error) {
	if s.now == nil {
		e, err := s.in.next()
		if err != nil {
			return nil, err
		}
		s.now, s.given, s.faults, e.value.whole = e, 0, 0, e
		s.bad = e.marks[0].bad
		if len(e.value.faults) > 0 {
			s.bad = e.value.before
		}
	}
	m := s.now.value
	s.pass(m)
	e := &m.elements[s.given]
	s.given++
	// A portion is within one block, and its mark is after all of it.
	end := s.now.marks[0]
	end.block.Retain()
	e.free = m.free
	e.marks = append(e.marks, mark{block: end.block, n: end.n - len(m.elements) + s.given, bad: s.bad})
	if s.pass(m); s.given == len(m.elements) {
		s.now = nil
	}
	return e, nil
}

// pass skips the records without an element.
func (s *mapSource[T]) pass(m *mapped[T]) {
	for s.faults < len(m.faults) && m.faults[s.faults].record == s.given {
		s.bad = m.faults[s.faults].count
		s.faults++
		s.given++
	}
}

func (s *mapSource[T]) interrupt() { s.in.interrupt() }

func (s *mapSource[T]) startEpoch(epoch int64) error {
	for s.now != nil {
		e, _ := s.next() // of the current portion
		e.drop()
	}
	return s.in.startEpoch(epoch)
}

func (s *mapSource[T]) state() State  { return s.in.state() }
func (s *mapSource[T]) running() *run { return s.in.running() }

func (s *mapSource[T]) recycle() func(T) { return nil }
func (s *mapSource[T]) close()           { s.in.close() }
