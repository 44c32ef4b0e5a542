package shard

import "sync"

// scanners lends featureScans to goroutines.
type scanners struct {
	mu   sync.Mutex
	free []*featureScan
	all  []*featureScan
}

func (s *scanners) get() *featureScan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		scan := s.free[n-1]
		s.free = s.free[:n-1]
		return scan
	}
	scan := newFeatureScan()
	s.all = append(s.all, scan)
	return scan
}

func (s *scanners) put(scan *featureScan) {
	s.mu.Lock()
	s.free = append(s.free, scan)
	s.mu.Unlock()
}

// total returns what all of them saw. They must not be used any more.
func (s *scanners) total() *featureScan {
	total := newFeatureScan()
	for _, scan := range s.all {
		total.merge(scan)
	}
	return total
}
