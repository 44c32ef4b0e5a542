package reader

import "errors"

// newJoined returns a set with the files of other sets, none so far.
func newJoined() *fileSet { return &fileSet{files: newFiles(nil)} }

// join adds the files of a set. The options are those of the first one, but for what may be skipped:
// that of all of them.
func (s *fileSet) join(of *fileSet) {
	if len(s.joined) == 0 {
		s.opts = of.opts
	} else {
		s.opts.SkipBad.Count = mostSkipped(s.opts.SkipBad) + mostSkipped(of.opts.SkipBad)
		s.opts.SkipBad.Share = max(s.opts.SkipBad.Share, of.opts.SkipBad.Share)
	}
	of.mu.Lock()
	s.sources = append(s.sources, of.sources...)
	s.stamps = append(s.stamps, of.stamps...)
	s.indexes = append(s.indexes, of.indexes...)
	of.mu.Unlock()
	s.joined = append(s.joined, of)
}

// Input returns which of the joined sets a record came from, counted from 0. For a set of Open it
// is 0.
func (s *fileSet) Input(r Record) int {
	n, end := len(s.joined), 0
	for i, of := range s.joined {
		if end += len(of.sources); int(r.File) < end {
			return i
		}
	}
	return max(n-1, 0)
}

// errJoined refuses to read the set of a joined pipe in another order.
var errJoined = errors.New("reader: the Set of a Mix or Concat has files of several sets, with options of their own: open the files as one set")
