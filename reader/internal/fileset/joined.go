package fileset

import (
	"errors"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// NewJoined returns a set with the files of other sets, none so far.
func NewJoined() *Set { return &Set{files: newFiles(nil)} }

// Join adds the files of a set. The options come from the first set, except for the limit of
// SkipBad, which covers all sets.
func (s *Set) Join(of *Set) {
	if len(s.Joined) == 0 {
		s.Opts = of.Opts
	} else {
		s.Opts.SkipBad.Count = pipeline.MostSkipped(s.Opts.SkipBad) + pipeline.MostSkipped(of.Opts.SkipBad)
		s.Opts.SkipBad.Share = max(s.Opts.SkipBad.Share, of.Opts.SkipBad.Share)
	}
	of.mu.Lock()
	s.sources = append(s.sources, of.sources...)
	s.stamps = append(s.stamps, of.stamps...)
	s.indexes = append(s.indexes, of.indexes...)
	of.mu.Unlock()
	s.Joined = append(s.Joined, of)
}

// Input returns which of the joined sets a record came from, counted from 0. For a set of Open it
// is 0.
func (s *Set) Input(r pipeline.Record) int {
	n, end := len(s.Joined), 0
	for i, of := range s.Joined {
		if end += len(of.sources); int(r.File) < end {
			return i
		}
	}
	return max(n-1, 0)
}

// ErrJoined refuses to read the set of a joined pipe in another order.
var ErrJoined = errors.New("reader: the Set of a Mix or Concat has files of several sets, with options of their own: open the files as one set")
