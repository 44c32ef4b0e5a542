package settest

import (
	"errors"
	"sync/atomic"
	"time"
)

// SlowWrites makes each write of a run take a time and one of them fail, and counts them and how many
// are made at a time.
type SlowWrites struct {
	Takes             time.Duration
	Fails             int64 // number of the write that fails, from 1; 0: none
	Writes, now, Most atomic.Int64
}

// ErrSlowWrite is the error of the write that fails.
var ErrSlowWrite = errors.New("broken")

// Hook is for [inject.With].
func (s *SlowWrites) Hook(operation string) error {
	if operation != "write" {
		return nil
	}
	number, now := s.Writes.Add(1), s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.Most.Load(); now > most && !s.Most.CompareAndSwap(most, now); most = s.Most.Load() {
	}
	time.Sleep(s.Takes)
	if number == s.Fails {
		return ErrSlowWrite
	}
	return nil
}
