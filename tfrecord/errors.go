package tfrecord

import (
	"errors"
	"fmt"
	"strings"
)

// Part is the part of the data that an [Error] is about. The values are stable: scripts depend on
// them.
type Part string

// The parts. The first four are the parts of a frame, in order; this package also returns
// PartIndex, PartParse and PartCompression. The others are faults of a set of files, reported by
// packages that know the set.
const (
	PartLength      Part = "length"      // a frame's length: truncated, or over the limit
	PartLengthCRC   Part = "length_crc"  // the checksum of the length
	PartData        Part = "data"        // a frame's payload
	PartDataCRC     Part = "data_crc"    // the checksum of the payload
	PartHeader      Part = "header"      // a file's description of itself
	PartMissing     Part = "missing"     // a missing file
	PartExtra       Part = "extra"       // an unexpected file
	PartHash        Part = "hash"        // a file's digest
	PartIndex       Part = "index"       // an index file
	PartCount       Part = "count"       // the number of records
	PartParse       Part = "parse"       // the protocol buffer in a record
	PartCompression Part = "compression" // the compressed stream around the frames
)

// Errors that an [Error] unwraps to, in addition to io.ErrUnexpectedEOF for truncated data and the
// errors of the underlying reader.
var (
	// ErrChecksum: a stored checksum differs from the data's.
	ErrChecksum = errors.New("checksum does not match")
	// ErrTooLarge: a record is longer than [ReaderOptions.MaxRecord] allows.
	ErrTooLarge = errors.New("record too large")
	// ErrTooMany: a message has more features than [MaxFeatures], or more steps than
	// [MaxSteps].
	ErrTooMany = errors.New("too many features or steps")
	// ErrUnknownCompression: not one of the [Compression] values or their names.
	ErrUnknownCompression = errors.New("unknown compression")
	// ErrMalformed: not a valid protocol buffer or index.
	ErrMalformed = errors.New("malformed")
	// ErrClosed: a Reader or Writer was used after Close.
	ErrClosed = errors.New("already closed")
)

// Error describes damage and its position.
type Error struct {
	Name   string // of the file; may be empty
	Record int64  // number of the record (or index entry) from 0; -1 if unknown
	Offset int64  // where its frame (or entry) begins, uncompressed, or the byte in a message
	Part   Part   // damaged part
	Err    error  // cause
}

// Error returns all fields in one line, as in "out/x.tfrecord: record 7 at byte 1234: data_crc:
// checksum does not match …".
func (e *Error) Error() string {
	var s strings.Builder
	if e.Name != "" {
		s.WriteString(e.Name + ": ")
	}
	if e.Record >= 0 {
		fmt.Fprintf(&s, "record %d at ", e.Record)
	}
	fmt.Fprintf(&s, "byte %d: %s: %v", e.Offset, e.Part, e.Err)
	return s.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
