package reader

import (
	"sync"
	"sync/atomic"
)

// workerSpec says how portions of records become values.
type workerSpec[T any] struct {
	name      string // of the stage, in Stats
	cut       cutter // without its stream
	workers   int    // 0: as many as the set's Parallelism
	unordered bool   // values come as they are ready
	part      int    // records that one worker takes at a time; 0: the portion
	// make returns an empty value, and work a worker's function to fill it with
	// the records from (included) to to of a portion. It tells fail of each that
	// nothing can be made of, and goes on if that says so. Before that begin is
	// told of the portion.
	make  func() T
	begin func(v T, records []Record)
	work  func() func(v T, records []Record, from, to int, fail func(record int, err error) bool)
	// without is told, before a value is given, of the records that nothing was
	// made of, one at least, and of the count of them: before the first, and
	// behind each. It takes what stands for them out of the value, and returns
	// how many records are left in it.
	without func(v T, faults []workFault, before skipCount) (left int)
	// clear, when not nil, makes a value forget what it holds, when it is dropped.
	clear func(v T)
	// mark tells a value where the pipe stands behind it; nil: not wanted.
	mark func(v T, m mark)
	// bytes returns how much memory a value has; nil: not known.
	bytes func(v T) int64
}

// task is a portion on its way to becoming a value.
type task[T any] struct {
	element[T]
	portion
	left    atomic.Int32 // parts that are not done
	done    chan struct{}
	charged int64 // bytes of the value in the budget

	mu     sync.Mutex
	faults []workFault
	fails  func(record int, err error) bool
}

// workFault is a record of a portion that nothing could be made of.
type workFault struct {
	record int
	err    error
	count  skipCount // with it
}

// part is what one worker does of a task.
type part[T any] struct {
	*task[T]
	from, to int
}

// idle keeps what may be used again. Any goroutine may call it.
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
