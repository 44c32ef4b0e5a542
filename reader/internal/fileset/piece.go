package fileset

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
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// Piece is a stretch of a file, whole records.
type Piece struct {
	File int32
	Pad  bool // its records are repeats
	From pipeline.Cursor
	End  pipeline.Cursor // of the record after it; NoEnd for the rest of the file
}

// NoEnd is past the end of any file.
var NoEnd = pipeline.Cursor{Number: 1<<63 - 1, Offset: 1<<63 - 1}

// WholeFile is all of file i.
func WholeFile(i int) Piece { return Piece{File: int32(i), End: NoEnd} }

// MissingRecords returns the records missing from a piece that ended at a cursor, compared with the
// records that existed when it was cut, the manifest or an index file; nil if there are none. A
// file that was cut off between two records shows no other damage, and a stretch of broken framing
// does not show how many it held. plain means that the file is not compressed. If ctx is done,
// index files are not read.
func (s *Set) MissingRecords(ctx context.Context, p Piece, at pipeline.Cursor, plain bool) *pipeline.Fault {
	want := s.Wanted(ctx, p, at, plain)
	if want.Records == NoEnd.Number || at.Number >= want.Records {
		return nil
	}
	at.Number = max(at.Number, p.From.Number) // what precedes the piece belongs to another
	f := &pipeline.Fault{File: p.File, Number: at.Number, Offset: at.Offset, Records: want.Records - at.Number, Bytes: -1}
	if want.end != NoEnd.Offset {
		f.Bytes = max(want.end-at.Offset, 0)
	}
	f.Err = &tfrecord.Error{
		Name: s.sources[p.File].Path, Record: at.Number, Offset: at.Offset, Part: tfrecord.PartCount,
		Err: fmt.Errorf("%w: the file ends here, and it had %s %s; %s checks the whole set", io.ErrUnexpectedEOF, plural.Of(want.Records, "record"), want.by, optname.VerifyFiles),
	}
	return f
}

// Wanted returns where a piece that ended at a cursor should have ended.
func (s *Set) Wanted(ctx context.Context, p Piece, at pipeline.Cursor, plain bool) expectedCount {
	if p.End == NoEnd {
		return s.promised(ctx, int(p.File), at, plain)
	}
	return expectedCount{p.End.Number, p.End.Offset, "when the set was divided"}
}

// expectedCount is the number of records that a file should have.
type expectedCount struct {
	Records int64
	end     int64  // where they end, in the uncompressed stream; NoEnd.offset: unknown
	by      string // source of the number
}

// promised returns the expected end of source i, which ended at a cursor.
func (s *Set) promised(ctx context.Context, i int, at pipeline.Cursor, plain bool) expectedCount {
	none := expectedCount{NoEnd.Number, NoEnd.Offset, ""}
	if info := s.sources[i].Info; info != nil {
		want := expectedCount{info.Records, NoEnd.Offset, "by its manifest"}
		if plain && info.Bytes >= 0 {
			want.end = info.Bytes
		}
		return want
	}
	s.mu.Lock()
	is := s.stamps[i]
	s.mu.Unlock()
	if !s.Regular(i) || is.asked && at.Offset >= is.told {
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
	if _, end, ok := parseIndexLine(lines[len(lines)-1]); !ok || end <= at.Offset {
		return none
	}
	// It belongs to this file if the file ends where a record began.
	want, here := expectedCount{0, 0, "by the index " + path}, false
	for all := bufio.NewScanner(f); all.Scan(); {
		begin, end, ok := parseIndexLine(all.Text())
		if !ok || begin != want.end {
			return none
		}
		here = here || begin == at.Offset
		want.Records, want.end = want.Records+1, end
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
