package transfer

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// leastIndexed is the size from which a file's index is read instead of its frame headers.
const leastIndexed = 1 << 20

// marksOf returns where the shards of a layout begin within a file of a set, according to its index.
// It returns nil if frame headers must say so: the file has no index, or one that is not of as many
// records and bytes. Otherwise, the caller counts the records between two marks.
func marksOf(ctx context.Context, f *source.Input, l assign.Layout) []recordcount.FrameMark {
	if f.Info == nil || f.Marks != nil || f.Size < leastIndexed {
		return nil
	}
	var records []int64
	for shard := l.After(f.FirstInSplit); shard < l.Shards && l.Start(shard) < f.FirstInSplit+f.Records; shard++ {
		if n := l.Start(shard) - f.FirstInSplit; len(records) == 0 || n > records[len(records)-1] {
			records = append(records, n)
		}
	}
	if len(records) == 0 {
		return nil
	}
	file, err := storage.Open(ctx, manifest.IndexPath(f.Path))
	if err != nil {
		return nil
	}
	defer file.Close()
	return indexMarks(ctx, file, f.Records, f.Size, records)
}

// indexMarks returns the positions of the given records, in ascending order and above 0, according
// to the index of a file of so many records and bytes; nil if it is not the index of such a file.
func indexMarks(ctx context.Context, index io.Reader, total, size int64, records []int64) (marks []recordcount.FrameMark) {
	x := indexLines{in: bufio.NewReaderSize(index, 256<<10)}
	at := recordcount.FrameMark{}
	for _, record := range append(records, total) {
		if x.skip(ctx, record-1) != nil {
			return nil
		}
		end, ok := x.next()
		if !ok || end <= at.Offset {
			return nil
		}
		at = recordcount.FrameMark{Record: record, Offset: end}
		marks = append(marks, at)
	}
	if _, err := x.in.Peek(1); err != io.EOF || at.Offset != size {
		return nil
	}
	return marks[:len(records)]
}

// indexLines are the lines of an index.
type indexLines struct {
	in   *bufio.Reader
	line int64 // number of the next one
}

// skip advances to a line.
func (x *indexLines) skip(ctx context.Context, line int64) error {
	newline := []byte{'\n'}
	for x.line < line {
		if _, err := x.in.Peek(1); err != nil {
			return err
		}
		chunk, _ := x.in.Peek(x.in.Buffered())
		n := int64(bytes.Count(chunk, newline))
		read := len(chunk)
		if x.line+n >= line {
			for read = 0; x.line < line; x.line++ {
				read += bytes.IndexByte(chunk[read:], '\n') + 1
			}
		} else {
			x.line += n
		}
		x.in.Discard(read)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// next returns where the frame of the next line ends.
func (x *indexLines) next() (end int64, ok bool) {
	for e, err := range tfrecord.IndexEntries(x.in, "") { // uses x.in itself, which is as large
		if err != nil {
			return 0, false
		}
		x.line++
		return e.Offset + e.Size, true
	}
	return 0, false
}
