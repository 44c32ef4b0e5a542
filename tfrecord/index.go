package tfrecord

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// IndexEntry is the position of a record in a plain TFRecord file.
type IndexEntry struct {
	Offset int64 // where its frame begins
	Size   int64 // of the frame: payload plus [Overhead]
}

// maxIndexLine is the maximum length of a line: two int64 and a space.
const maxIndexLine = 2*19 + 1

// AppendIndex appends the line of e to dst: offset, space, size, newline, in decimal digits. An
// index file has one such line per record and nothing else, as read by the tfrecord package for
// Python and by DALI.
func AppendIndex(dst []byte, e IndexEntry) []byte {
	dst = appendDecimal(dst, e.Offset)
	dst = append(dst, ' ')
	dst = appendDecimal(dst, e.Size)
	return append(dst, '\n')
}

// IndexEntries yields the entries of an index file one by one: indexes of many records can be many
// gigabytes. An error comes last, with name, the line number from 0, the byte at which the line
// begins, and PartIndex; a last line without its newline is io.ErrUnexpectedEOF. Whether the
// entries match the records is not checked.
func IndexEntries(r io.Reader, name string) iter.Seq2[IndexEntry, error] {
	return func(yield func(IndexEntry, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number, offset := int64(0), int64(0); ; number++ {
			line, err := in.ReadSlice('\n')
			if err == io.EOF && len(line) == 0 {
				return
			}
			var e IndexEntry
			switch {
			case err == io.EOF:
				err = fmt.Errorf("%w: the last line has no end", io.ErrUnexpectedEOF)
			case err == nil || errors.Is(err, bufio.ErrBufferFull):
				e, err = parseIndexLine(bytes.TrimSuffix(line, []byte("\n")))
			}
			if err != nil {
				yield(IndexEntry{}, &Error{Name: name, Record: number, Offset: offset, Part: PartIndex, Err: err})
				return
			}
			if !yield(e, nil) {
				return
			}
			offset += int64(len(line))
		}
	}
}

// ReadIndex reads a whole index file: see IndexEntries. An entry takes 16 bytes of memory.
func ReadIndex(r io.Reader, name string) ([]IndexEntry, error) {
	var entries []IndexEntry
	for e, err := range IndexEntries(r, name) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseIndexLine(line []byte) (e IndexEntry, err error) {
	if len(line) > maxIndexLine {
		return e, fmt.Errorf("%w: a line longer than two numbers", ErrMalformed)
	}
	offset, size, ok := bytes.Cut(line, []byte(" "))
	if ok {
		e.Offset, ok = parseDecimal(offset)
	}
	if ok {
		e.Size, ok = parseDecimal(size)
	}
	switch {
	case !ok:
		return e, fmt.Errorf("%w: %q is not an offset, a space and a size", ErrMalformed, line)
	case e.Size < Overhead:
		return e, fmt.Errorf("%w: size %d is less than the %d bytes of framing", ErrMalformed, e.Size, Overhead)
	case e.Offset > math.MaxInt64-e.Size:
		return e, fmt.Errorf("%w: %q ends past the largest file", ErrMalformed, line)
	}
	return e, nil
}

// parseDecimal accepts only digits, unlike strconv.
func parseDecimal(digits []byte) (v int64, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' || v > (math.MaxInt64-int64(d-'0'))/10 {
			return 0, false
		}
		v = 10*v + int64(d-'0')
	}
	return v, len(digits) > 0
}

// BuildIndex reads all records of r, which must be at the beginning, and returns their index. A
// compressed file is an error, since its index could not be used to seek.
func BuildIndex(r *Reader) ([]IndexEntry, error) {
	var entries []IndexEntry
	for record, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if r.Compression() != CompressionNone {
			return nil, r.at(r.record, r.offset, PartIndex,
				fmt.Errorf("a file compressed with %v has no index: write it uncompressed", r.Compression()))
		}
		entries = append(entries, IndexEntry{r.Offset(), int64(len(record)) + Overhead})
	}
	return entries, nil
}
