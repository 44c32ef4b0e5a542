package reader

import (
	"context"
	"errors"
	"sync/atomic"
)

// MapOptions are the options of [Map]; the zero value preserves the order.
type MapOptions struct {
	// Workers is the number of goroutines that call the function. Default: chosen as it runs, up to
	// the Parallelism of the set, or up to 64 with Waits.
	Workers int
	// Waits says that the function mostly waits, as for a service or a disk: its workers then do not
	// count against the Parallelism of the set. More Workers than Parallelism imply it.
	Waits bool
	// Unordered returns results as they are ready, each at most a few dozen per worker early. A
	// State then refers to the original order: resuming from it may repeat or omit those few.
	Unordered bool
	// Size returns the approximate memory of a result in bytes, without its record. With it results
	// count as in flight (see [Options]), and no more are made in advance than there is room for.
	// Default: they do not count, and are bounded only by some dozens per worker and the length of
	// a Prefetch. [Pipe.Map] does not need it: its records count like any others.
	Size func(result any) int64
}

// mostWaiting is the maximum number of workers chosen for a function that waits.
const mostWaiting = 64

// waits reports whether the workers need no processor of a set with this Parallelism.
func (o MapOptions) waits(parallelism int) bool { return o.Waits || o.Workers > parallelism }

// mapPortion is the maximum number of records that Map's workers share at once.
const mapPortion = 32

// portionOf returns the number of records that Map's workers share at once: one if results are
// large enough for Size to be set.
func portionOf(o MapOptions) int {
	if o.Size != nil {
		return 1
	}
	return mapPortion
}

// Map describes the elements that f makes of the records of a pipe, in the order of the records by
// default. Several goroutines call f; its result may alias the record, whose data stay valid as
// long as the element. An error of f ends the flow with the record's file, number and offset,
// unless [SkipBad] allows skipping the record.
func Map[T any](p Pipe, f func(Record) (T, error), o MapOptions) Flow[T] {
	if f == nil {
		return MapWith[T](p, nil, o)
	}
	return MapWith(p, func() func(Record) (T, error) { return f }, o)
}

// MapWith is [Map] with a function for each worker, which one goroutine at a time calls: the place
// for parsers and buffers that cannot be shared. What the function keeps from one record to the
// next must not show in its results: which records it gets differs from run to run. Several
// goroutines call newWorker, as often as there may be workers (see [MapOptions]).
//
//	reader.MapWith(pipe, func() func(reader.Record) (int64, error) {
//		var example tfrecord.Example // reused
//		return func(r reader.Record) (int64, error) {
//			if err := example.Parse(r.Data); err != nil {
//				return 0, err
//			}
//			...
//		}
//	}, reader.MapOptions{})
func MapWith[T any](p Pipe, newWorker func() func(Record) (T, error), o MapOptions) Flow[T] {
	return Flow[T]{func(ctx context.Context, from origin) (source[T], error) {
		if newWorker == nil {
			return nil, errors.New("reader: Map without a function")
		}
		in, err := openWorkers(ctx, p, from, func(r *run) (workerSpec[*mapped[T]], error) {
			return workerSpec[*mapped[T]]{
				name:      "map",
				makes:     "map",
				cut:       cutter{size: portionOf(o), within: true},
				workers:   o.Workers,
				waits:     o.waits(r.set.opts.Parallelism),
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
	}}
}

// errNoFunction is a mistake of the program, which SkipBad does not cover.
var errNoFunction = errors.New("reader: MapWith got no function for a worker")

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
func (s *mapSource[T]) close()        { s.in.close() }
