package reader

import (
	"sync"
	"sync/atomic"
)

// workerSpec describes how portions of records become values.
type workerSpec[T any] struct {
	name      string // name of the stage, in Stats
	makes     string // describes the values, see run
	cut       cutter // without its stream
	workers   int    // 0: as many as the set's Parallelism
	unordered bool   // return values as they are ready
	part      int    // units per worker call; 0: the whole portion
	each      int    // units of a record, about; 0: 1
	waiting   int    // workers in addition to those chosen, which wait for a device
	// units returns the number of units of work in a portion after begin, at least 1; nil: its
	// records are the units.
	units func(v T) int
	// make returns an empty value, and work a worker's function that fills it from units [from, to)
	// of a portion. It calls fail for each record without a result, and continues if fail
	// returns true. begin is called with the portion before that.
	make  func() T
	begin func(v T, records []Record)
	work  func() func(v T, records []Record, from, to int, fail func(record int, err error) bool)
	// finish, if not nil, returns a worker's function that completes a value after work was done on
	// all of its records, given the faults so far in the order of their records. It may add some.
	finish func() func(v T, records []Record, faults []workFault, fail func(record int, err error) bool)
	// without is called before a value is returned if there are faults: records without a result,
	// at least one. before is the skip count before the first fault; each fault has the count after
	// it. It removes their rows from the value and returns the number of records left.
	without func(v T, faults []workFault, before skipCount) (left int)
	// clear, if not nil, drops what a value holds when the value is released.
	clear func(v T)
	// poison overwrites the memory of a value that is no longer valid; nil: it owns none.
	poison func(v T)
	// free frees memory of a value that is not used again and that the garbage collector does not
	// know; nil: there is none.
	free func(v T)
	// mark tells a value the position after it; nil: not needed.
	mark func(v T, m mark)
	// bytes returns the memory of a value; nil: unknown.
	bytes func(v T) int64
}

// task is a portion being made into a value.
type task[T any] struct {
	element[T]
	portion
	left    atomic.Int32 // unfinished parts
	done    chan struct{}
	charged int64 // bytes charged to the budget for the value

	mu     sync.Mutex
	faults []workFault
	fails  func(record int, err error) bool
}

// workUnits returns the number of units of a task that has begun.
func (s *workerSpec[T]) workUnits(t *task[T]) int {
	if s.units == nil {
		return len(t.records)
	}
	return s.units(t.value)
}

// end ends the work on a part, and reports whether it was the last one: otherwise the task is no
// longer the worker's. It returns the number of records to count and their payload in bytes: those
// of the part or, if units are not records, those of the task with the last part.
func (p part[T]) end(units bool) (last bool, records int, size int64) {
	if !units {
		records, size = p.to-p.from, payload(p.records[p.from:p.to])
	}
	last = p.left.Add(-1) == 0
	if last && units {
		records, size = len(p.records), payload(p.records)
	}
	return last, records, size
}

// workFault is a record of a portion without a result.
type workFault struct {
	record int
	err    error
	count  skipCount // including it
}

// part is one worker's share of a task.
type part[T any] struct {
	*task[T]
	from, to int // units
}

// idle keeps objects for reuse. It is safe for concurrent use.
type idle[T any] struct {
	mu   sync.Mutex
	list []T
}

func (l *idle[T]) put(v T) {
	l.mu.Lock()
	l.list = append(l.list, v)
	l.mu.Unlock()
}

func (l *idle[T]) take() (v T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list)
	if n == 0 {
		return v, false
	}
	v, l.list = l.list[n-1], l.list[:n-1]
	return v, true
}

func (l *idle[T]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}
