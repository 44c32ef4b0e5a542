package sample

// TryAcquire takes a worker that has no task, to help to decode a large image; false if all have
// one. A task that comes meanwhile does not wait for it.
func (s *Maker) TryAcquire() bool {
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
func (s *Maker) Release() { s.Busy.Add(-1) }
