package reader

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// piece is a stretch of a file, whole records.
type piece struct {
	file int32
	pad  bool // its records are repeats
	from cursor
	end  cursor // of the record after it; noEnd for the rest of the file
}

// noEnd is past the end of any file.
var noEnd = cursor{1<<63 - 1, 1<<63 - 1}

// wholeFile is all of file i.
func wholeFile(i int) piece { return piece{file: int32(i), end: noEnd} }

// missingRecords returns the records missing from a piece that ended at a cursor, compared with the
// records that existed when it was cut, the manifest or an index file; nil if there are none. A
// file that was cut off between two records shows no other damage, and a stretch of broken framing
// does not show how many it held. plain means that the file is not compressed. If ctx is done,
// index files are not read.
func (s *fileSet) missingRecords(ctx context.Context, p piece, at cursor, plain bool) *fault {
	want := s.wanted(ctx, p, at, plain)
	if want.records == noEnd.number || at.number >= want.records {
		return nil
	}
	at.number = max(at.number, p.from.number) // what precedes the piece belongs to another
	f := &fault{file: p.file, number: at.number, offset: at.offset, records: want.records - at.number, bytes: -1}
	if want.end != noEnd.offset {
		f.bytes = max(want.end-at.offset, 0)
	}
	f.err = &tfrecord.Error{
		Name: s.sources[p.file].Path, Record: at.number, Offset: at.offset, Part: tfrecord.PartCount,
		Err: fmt.Errorf("%w: the file ends here, and it had %s %s; %s checks the whole set", io.ErrUnexpectedEOF, plural.Of(want.records, "record"), want.by, optname.VerifyFiles),
	}
	return f
}

// wanted returns where a piece that ended at a cursor should have ended.
func (s *fileSet) wanted(ctx context.Context, p piece, at cursor, plain bool) expectedCount {
	if p.end == noEnd {
		return s.promised(ctx, int(p.file), at, plain)
	}
	return expectedCount{p.end.number, p.end.offset, "when the set was divided"}
}

// expectedCount is the number of records that a file should have.
type expectedCount struct {
	records int64
	end     int64  // where they end, in the uncompressed stream; noEnd.offset: unknown
	by      string // source of the number
}

// promised returns what is known of source i, which ended at a cursor.
func (s *fileSet) promised(ctx context.Context, i int, at cursor, plain bool) expectedCount {
	none := expectedCount{noEnd.number, noEnd.offset, ""}
	if info := s.sources[i].Info; info != nil {
		want := expectedCount{info.Records, noEnd.offset, "by its manifest"}
		if plain && info.Bytes >= 0 {
			want.end = info.Bytes
		}
		return want
	}
	s.mu.Lock()
	is := s.stamps[i]
	s.mu.Unlock()
	if !s.regular(i) || is.asked && at.offset >= is.told {
		return none
	}
	path := manifest.IndexPath(s.sources[i].Path)
	f, err := storage.Open(ctx, path)
	if err != nil {
		return none
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return none
	}
	// Nearly always the last line confirms that nothing is missing.
	tail := make([]byte, min(st.Size(), indexLine))
	if _, err := f.ReadAt(tail, st.Size()-int64(len(tail))); err != nil {
		return none
	}
	lines := strings.Split(strings.TrimSuffix(string(tail), "\n"), "\n")
	if _, end, ok := parseIndexLine(lines[len(lines)-1]); !ok || end <= at.offset {
		return none
	}
	// It belongs to this file if the file ends where a record began.
	want, here := expectedCount{0, 0, "by the index " + path}, false
	for all := bufio.NewScanner(f); all.Scan(); {
		begin, end, ok := parseIndexLine(all.Text())
		if !ok || begin != want.end {
			return none
		}
		here = here || begin == at.offset
		want.records, want.end = want.records+1, end
	}
	if !here {
		return none
	}
	return want
}

// indexLine is more than the length of a line in an index file.
const indexLine = 64

// parseIndexLine returns the start and end of the record on a line.
func parseIndexLine(line string) (begin, end int64, ok bool) {
	first, second, ok := strings.Cut(line, " ")
	begin, err1 := strconv.ParseInt(first, 10, 64)
	size, err2 := strconv.ParseInt(second, 10, 64)
	ok = ok && err1 == nil && err2 == nil && begin >= 0 && size >= tfrecord.Overhead && size <= math.MaxInt64-begin
	return begin, begin + size, ok
}
