package flows

import "github.com/tfrec/tfrec/reader/internal/pipeline"

// WorkerSpec describes how portions of records become values.
type WorkerSpec[T any] struct {
	Name      string // name of the stage, in Stats
	Makes     string // describes the values, see run
	Cut       Cutter // without its stream
	Workers   int    // 0: as many as the set's Parallelism
	waits     bool   // the workers need no tokens
	mayWait   bool   // it may turn out that they need none
	unordered bool   // return values as they are ready
	Part      int    // units per worker call; 0: the whole portion
	Each      int    // units of a record, about; 0: 1
	Waiting   int    // workers in addition to those chosen, which wait for a device
	// Units returns the number of units of work in a portion after begin, at least 1; nil: its
	// records are the units.
	Units func(v T) int
	// Make returns an empty value, and work a worker's function that fills it from units [from, to)
	// of a portion. It calls fail for each record without a result, and continues if fail
	// returns true. begin is called with the portion before that.
	Make  func() T
	Begin func(v T, records []pipeline.Record)
	Work  func() func(v T, records []pipeline.Record, from, to int, fail func(record int, err error) bool)
	// Finish, if not nil, returns a worker's function that completes a value after work was done on
	// all of its records, given the faults so far in the order of their records. It may add some.
	Finish func() func(v T, records []pipeline.Record, faults []pipeline.WorkFault, fail func(record int, err error) bool)
	// Without is called before a value is returned if there are faults: records without a result,
	// at least one. before is the skip count before the first fault; each fault has the count after
	// it. It removes their rows from the value and returns the number of records left.
	Without func(v T, faults []pipeline.WorkFault, before pipeline.SkipCount) (left int)
	// clear, if not nil, drops the references of a value when it is released.
	clear func(v T)
	// Poison overwrites the memory of a released value; nil: it owns none.
	Poison func(v T)
	// Free frees the memory of a value after its last use that the garbage collector does not
	// manage; nil: it has none.
	Free func(v T)
	// Mark tells a value the position after it; nil: not needed.
	Mark func(v T, m Mark)
	// Bytes returns the memory of a value; nil: unknown.
	Bytes func(v T) int64
}
