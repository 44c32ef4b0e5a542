package reader

// workerSpec describes how portions of records become values.
type workerSpec[T any] struct {
	name      string // name of the stage, in Stats
	makes     string // describes the values, see run
	cut       cutter // without its stream
	workers   int    // 0: as many as the set's Parallelism
	waits     bool   // the workers need no tokens
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
