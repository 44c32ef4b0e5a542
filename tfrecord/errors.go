package tfrecord

import (
	"errors"
	"fmt"
	"strings"
)

// Part says which part of the data an [Error] is about. The values are fixed:
// scripts read them.
type Part string

// The parts. The first four are those of a frame, in its order; this package
// also gives PartIndex, PartParse and PartCompression. The others are faults of
// a set of files, found by who knows the set.
const (
	PartLength      Part = "length"      // a frame's length: cut off, or over the limit
	PartLengthCRC   Part = "length_crc"  // the checksum of the length
	PartData        Part = "data"        // a frame's payload
	PartDataCRC     Part = "data_crc"    // the checksum of the payload
	PartHeader      Part = "header"      // what a file says of itself
	PartMissing     Part = "missing"     // a file that should be there
	PartExtra       Part = "extra"       // a file that should not be there
	PartHash        Part = "hash"        // a file's digest
	PartIndex       Part = "index"       // an index file
	PartCount       Part = "count"       // a number of records
	PartParse       Part = "parse"       // the protocol buffer in a record
	PartCompression Part = "compression" // the compressed stream around the frames
)

// What an [Error] unwraps to, besides io.ErrUnexpectedEOF for data that were
// cut off, and the errors of the underlying reader.
var (
	// ErrChecksum: a stored checksum and that of the data differ.
	ErrChecksum = errors.New("checksum does not match")
	// ErrTooLarge: a record is longer than [ReaderOptions.MaxRecord] allows.
	ErrTooLarge = errors.New("record too large")
	// ErrTooMany: a message has more features than [MaxFeatures], or more steps than
	// [MaxSteps].
	ErrTooMany = errors.New("too many features or steps")
	// ErrUnknownCompression: not one of the [Compression] values or their names.
	ErrUnknownCompression = errors.New("unknown compression")
	// ErrMalformed: not the protocol buffer or index that it should be.
	ErrMalformed = errors.New("malformed")
	// ErrClosed: a Reader or Writer was used after Close.
	ErrClosed = errors.New("already closed")
)

// Error is damage, and where it is.
type Error struct {
	Name   string // of the file; empty when it has none
	Record int64  // number of the record (or index entry) from 0; -1 when not known
	Offset int64  // byte at which that record's frame (or entry) begins, uncompressed; without a record, the byte of the message
	Part   Part   // what is damaged
	Err    error  // what is wrong with it
}

// Error gives all fields in one line, as
// "out/x.tfrecord: record 7 at byte 1234: data_crc: checksum does not match …".
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
