package settest

import (
	"runtime"
	"testing"
)

// Waits returns the number of times that goroutines waited while work ran with GOMAXPROCS set to
// procs: for a lock that another one held, at a channel, or for a condition. Records that pass a
// channel one by one wait nearly as often as there are records, on any machine and however busy it
// is. Tests that call it must not be parallel.
func Waits(t testing.TB, procs int, work func()) (waits int64) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	before := blocked()
	work()
	return blocked() - before
}

// blocked returns the number of events in the block profile.
func blocked() (events int64) {
	var records []runtime.BlockProfileRecord
	n, ok := runtime.BlockProfile(nil)
	for !ok {
		records = make([]runtime.BlockProfileRecord, n+100)
		n, ok = runtime.BlockProfile(records)
	}
	for _, r := range records[:n] {
		events += r.Count
	}
	return events
}
