package imagerecord

import "sync/atomic"

// spare counts the workers that can help others to decode.
type spare struct {
	Workers int          // goroutines that make records
	Busy    atomic.Int64 // workers with a task, and those that help to decode
}

// TryAcquire takes a worker that has no task, to help to decode a large image; false if all have
// one. A task that comes meanwhile does not wait for it.
func (s *spare) TryAcquire() bool {
	for {
		n := s.Busy.Load()
		if n >= int64(s.Workers) {
			return false
		}
		if s.Busy.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives back what TryAcquire took.
func (s *spare) Release() { s.Busy.Add(-1) }
