package inflate

import (
	"compress/gzip"
	"compress/zlib"
	"fmt"
)

// Error describes a fault in compressed data. It unwraps to ErrHeader or ErrChecksum of
// compress/gzip or compress/zlib, or to nothing.
type Error struct {
	// Offset is the number of bytes of compressed data up to where the fault was noticed.
	Offset int64
	// Reason describes the fault.
	Reason string
	// Checksum reports whether the data decompress, but to another checksum or length than the
	// stream records.
	Checksum bool

	err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d of the compressed data", e.Reason, e.Offset)
}

func (e *Error) Unwrap() error { return e.err }

// fail returns an error at the current position.
func (r *Reader) fail(format string, args ...any) error {
	return &Error{Offset: r.Consumed(), Reason: fmt.Sprintf(format, args...)}
}

// failHeader returns an error of a header.
func (r *Reader) failHeader(reason string) error {
	e := &Error{Offset: r.Consumed(), Reason: reason, err: zlib.ErrHeader}
	if r.format == Gzip {
		e.err = gzip.ErrHeader
	}
	return e
}

// failChecksum returns an error of a trailer.
func (r *Reader) failChecksum(reason string) error {
	e := &Error{Offset: r.Consumed(), Reason: reason, Checksum: true, err: zlib.ErrChecksum}
	if r.format == Gzip {
		e.err = gzip.ErrChecksum
	}
	return e
}
