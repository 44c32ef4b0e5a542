package convert

// TryAcquire takes a worker that has no task, to help to decode a large image; false if all have
// one. A task that comes meanwhile does not wait for it.
func (s *sampleMaker) TryAcquire() bool {
	for {
		n := s.busy.Load()
		if n >= int64(s.workers) {
			return false
		}
		if s.busy.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives back what TryAcquire took.
func (s *sampleMaker) Release() { s.busy.Add(-1) }
