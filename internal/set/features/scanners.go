package features

import "sync"

// Scanners is a pool of Scans for use by several goroutines.
type Scanners struct {
	mu   sync.Mutex
	free []*Scan
	All  []*Scan
}

func (s *Scanners) Get() *Scan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		scan := s.free[n-1]
		s.free = s.free[:n-1]
		return scan
	}
	scan := NewScan()
	s.All = append(s.All, scan)
	return scan
}

func (s *Scanners) Put(scan *Scan) {
	s.mu.Lock()
	s.free = append(s.free, scan)
	s.mu.Unlock()
}

// Total returns the merged results of all Scans, which must not be used afterwards.
func (s *Scanners) Total() *Scan {
	total := NewScan()
	for _, scan := range s.All {
		total.Merge(scan)
	}
	return total
}
