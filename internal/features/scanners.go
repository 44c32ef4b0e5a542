package features

import "sync"

// Scanners lends featureScans to goroutines.
type Scanners struct {
	mu   sync.Mutex
	free []*FeatureScan
	All  []*FeatureScan
}

func (s *Scanners) Get() *FeatureScan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		scan := s.free[n-1]
		s.free = s.free[:n-1]
		return scan
	}
	scan := NewFeatureScan()
	s.All = append(s.All, scan)
	return scan
}

func (s *Scanners) Put(scan *FeatureScan) {
	s.mu.Lock()
	s.free = append(s.free, scan)
	s.mu.Unlock()
}

// Total returns what all of them saw. They must not be used any more.
func (s *Scanners) Total() *FeatureScan {
	total := NewFeatureScan()
	for _, scan := range s.All {
		total.Merge(scan)
	}
	return total
}
