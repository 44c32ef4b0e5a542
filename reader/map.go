package reader

import (
	"context"
	"errors"
	"sync/atomic"
)

// MapOptions are options of [Map]; the zero value keeps the order.
type MapOptions struct {
	// Workers is how many goroutines call the function. Default: chosen as it
	// runs, up to the Parallelism of the set.
	Workers int
	// Unordered gives results as they are ready, at most a few dozen for each
	// worker early. A State then stands for the order that the records had:
	// continuing from it may repeat, or leave out, those few.
	Unordered bool
	// Size returns about how many bytes of memory a result takes, its record
	// aside. With it results count as what is in flight (see [Options]), and no
	// more are made ahead than there is room for. Default: they don't count, and
	// some dozens for each worker, and those that a Prefetch was asked for, is all
	// that bounds them. [Pipe.Map] needs none: its records count as any others.
	Size func(result any) int64
}

// mapPortion is how many records at most Map's workers share at a time.
const mapPortion = 32

// portionOf returns how many records Map's workers share at a time: one where
// results are large enough to be measured.
func portionOf(o MapOptions) int {
	if o.Size != nil {
		return 1
	}
	return mapPortion
}

// Map describes the elements that f makes of the records of a pipe, in the
// order of the records unless told otherwise. Several goroutines call f; what
// it returns may alias the record, whose data stay as long as the element does.
// An error of f ends the flow, with the record's file, number and offset, unless
// [SkipBad] lets it pass over the record.
func Map[T any](p Pipe, f func(Record) (T, error), o MapOptions) Flow[T] {
	return Flow[T]{func(ctx context.Context, from origin) (source[T], error) {
		if f == nil {
			return nil, errors.New("reader: Map without a function")
		}
		in, err := openWorkers(ctx, p, from, func(*run) (workerSpec[*mapped[T]], error) {
			return workerSpec[*mapped[T]]{
				name:      "map",
				cut:       cutter{size: portionOf(o), within: true},
				workers:   o.Workers,
				unordered: o.Unordered,
				part:      1,
				make:      func() *mapped[T] { return &mapped[T]{} },
				begin:     (*mapped[T]).begin,
				without:   (*mapped[T]).without,
				clear:     (*mapped[T]).clear,
				bytes:     func(m *mapped[T]) int64 { return m.bytes.Load() },
				work: func() func(*mapped[T], []Record, int, int, func(int, error) bool) {
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
	}}
}

// mapped is what Map made of a portion.
type mapped[T any] struct {
	elements []element[T]
	faults   []workFault  // of elements that are none
	before   skipCount    // of what was passed over
	left     atomic.Int32 // elements that were not dropped
	bytes    atomic.Int64 // of the elements, as far as is known
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

// clear forgets the values, which may be large.
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

// mapSource gives the elements of mapped portions one by one.
type mapSource[T any] struct {
	in     source[*mapped[T]]
	now    *element[*mapped[T]]
	given  int       // elements of it,
	faults int       // and of its faults
	bad    skipCount // what was passed over until there
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
	// A portion lies in one block, and its mark is behind all of it.
	end := s.now.marks[0]
	end.block.Retain()
	e.free = m.free
	e.marks = append(e.marks, mark{end.block, end.n - len(m.elements) + s.given, s.bad})
	if s.pass(m); s.given == len(m.elements) {
		s.now = nil
	}
	return e, nil
}

// pass goes past elements that are none.
func (s *mapSource[T]) pass(m *mapped[T]) {
	for s.faults < len(m.faults) && m.faults[s.faults].record == s.given {
		s.bad = m.faults[s.faults].count
		s.faults++
		s.given++
	}
}

func (s *mapSource[T]) interrupt() { s.in.interrupt() }

func (s *mapSource[T]) nextEpoch() error {
	for s.now != nil {
		e, _ := s.next() // of the portion in hand
		e.drop()
	}
	return s.in.nextEpoch()
}

func (s *mapSource[T]) state() State  { return s.in.state() }
func (s *mapSource[T]) running() *run { return s.in.running() }
func (s *mapSource[T]) close()        { s.in.close() }
