package reader

import (
	"fmt"
	"io"

	"github.com/tfrec/tfrec/tfrecord"
)

// cursor is a place between two records of a file.
type cursor struct {
	number int64 // of the record that comes next
	offset int64 // where its frame begins, in the uncompressed stream
}

// piece is a stretch of a file, whole records.
type piece struct {
	file int32
	pad  bool // its records are given once more
	from cursor
	end  cursor // of the record behind; noEnd for all that is there
}

// noEnd is past the end of any file.
var noEnd = cursor{1<<63 - 1, 1<<63 - 1}

// allThere returns an error when a piece ended before all of its records came:
// those that there were when it was cut, or that the manifest promises. A file
// that was cut off between two records shows no other damage. What SkipBad lets
// pass makes numbers differ.
func (s *Set) allThere(p piece, at cursor) error {
	want := p.end.number
	if info := s.sources[p.file].Info; p.end == noEnd && info != nil {
		want = info.Records
	}
	if want == noEnd.number || at.number >= want || s.opts.SkipBad.asked() {
		return nil
	}
	return &tfrecord.Error{
		Name: s.sources[p.file].Path, Record: at.number, Offset: at.offset, Part: tfrecord.PartCount,
		Err: fmt.Errorf("%w: the file ends here, and it had %d records; tfrec verify looks at all of the set", io.ErrUnexpectedEOF, want),
	}
}
