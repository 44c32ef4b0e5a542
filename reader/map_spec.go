package reader

import (
	"sync"
	"sync/atomic"
)

// workerSpec describes how portions of records become values.
type workerSpec[T any] struct {
	name      string // name of the stage, in Stats
	cut       cutter // without its stream
	workers   int    // 0: as many as the set's Parallelism
	unordered bool   // return values as they are ready
	part      int    // records per worker call; 0: the whole portion
	// make returns an empty value, and work a worker's function that fills it from records [from,
	// to) of a portion. It calls fail for each record without a result, and continues if fail
	// returns true. begin is called with the portion before that.
	make  func() T
	begin func(v T, records []Record)
	work  func() func(v T, records []Record, from, to int, fail func(record int, err error) bool)
	// without is called before a value is returned if there are faults: records without a result,
	// at least one. before is the skip count before the first fault; each fault has the count after
	// it. It removes their rows from the value and returns the number of records left.
	without func(v T, faults []workFault, before skipCount) (left int)
	// clear, if not nil, drops what a value holds when the value is released.
	clear func(v T)
	// poison overwrites the memory of a value that is no longer valid; nil: it owns none.
	poison func(v T)
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

// workFault is a record of a portion without a result.
type workFault struct {
	record int
	err    error
	count  skipCount // including it
}

// part is one worker's share of a task.
type part[T any] struct {
	*task[T]
	from, to int
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
