package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// Checksum selects the checksums that a Reader verifies.
type Checksum uint8

const (
	ChecksumFull   Checksum = iota // lengths and data
	ChecksumLength                 // lengths only: framing is reliable, data are not verified
	ChecksumOff                    // nothing: for files written without CRCs
)

const (
	defaultMaxRecord = 1 << 30
	defaultBuffer    = 256 << 10
	minBuffer        = 64
)

// ReaderOptions are options of a [Reader]; the zero value verifies everything and detects the
// compression.
type ReaderOptions struct {
	// Name of the file, for errors. Default: none.
	Name string
	// Compression of the file. Default: CompressionAuto, which detects it from the first bytes. A file
	// that is neither framed nor compressed is read as plain, and fails at record 0.
	Compression Compression
	// Checksum selects the checksums to verify. Default: ChecksumFull.
	Checksum Checksum
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// BufferSize is the read size in bytes, at least 64. Default: 256 KiB. The buffer grows for
	// larger records as their data arrive, and keeps its largest size.
	BufferSize int
}

// Reader reads the records of a TFRecord file, with large reads and no allocation per record. It is
// not safe for concurrent use.
type Reader struct {
	opts       ReaderOptions
	max        uint64
	src        source
	dec        decompressor
	in         io.Reader // the uncompressed stream; nil before the first Next
	found      Compression
	compressed bool   // in is a decompressor
	raw        []byte // the beginning of the file, if it is compressed
	buf        []byte // buf[pos:end] is read but not yet returned
	pos        int
	end        int
	base       int64 // offset of buf[0] in the stream
	record     int64 // of the last Next
	offset     int64 // of the last Next
	pending    error // what in.Read returned after the last byte
	err        error // final, returned by every later Next
	rereading  bool
}

// NewReader returns a Reader of r. It reads ahead, so the position of r is unspecified afterwards.
// If r is a file, or has a method Left() int64 that returns the number of remaining bytes, the
// buffer for a large record is allocated at once; else it grows as its data arrive.
//
// If r comes over a network and has a method Refetch(p []byte, off int64, good func([]byte) bool)
// (changed bool, err error), damage of an uncompressed file is fetched again before it is reported:
// Refetch replaces p, which came from byte off of r, counted from where r was, and reports whether
// it differs. While good returns false, it may try again. Damage of a compressed file is handled by
// a method Reread(failed error, read func() error) error, if there is one and
// ReaderOptions.Checksum is ChecksumFull: it has r begin at its start again, calls read, which
// reads up to where the error failed came from, and returns its error. It may do so several times,
// or return failed.
func NewReader(r io.Reader, opts ReaderOptions) *Reader {
	if opts.MaxRecord <= 0 {
		opts.MaxRecord = defaultMaxRecord
	}
	if opts.BufferSize <= 0 {
		opts.BufferSize = defaultBuffer
	}
	opts.BufferSize = max(opts.BufferSize, minBuffer)
	t := &Reader{opts: opts, max: min(uint64(opts.MaxRecord), math.MaxInt-Overhead)}
	t.Reset(r, opts.Name)
	return t
}

// Reset makes the Reader read r from its beginning, under a new name but with
// the same options and buffers.
func (r *Reader) Reset(in io.Reader, name string) {
	r.opts.Name = name
	r.src = source{r: in}
	r.in, r.found, r.compressed, r.raw = nil, r.opts.Compression, false, nil
	r.pos, r.end, r.base = 0, 0, 0
	r.record, r.offset = -1, 0
	r.pending, r.err = nil, nil
}

// Next returns the next record. It is valid until the next call of Next or Reset, and must not be
// modified.
//
// At the end of the file, and only at a clean end, the error is io.EOF. Every other error is an
// [*Error] with the number and offset of the record that could not be read. After a data_crc error
// the reader is positioned after the damaged record, and Next may be called again; all other errors
// are final, since the position of the next record is unknown.
func (r *Reader) Next() ([]byte, error) {
	frame := r.buffered()
	if frame == nil {
		known := r.err
		var err error
		if frame, err = r.load(); err != nil && known == nil {
			return r.reread(r.record+1, err)
		} else if err != nil {
			return nil, err
		}
	}
	r.offset = r.base + int64(r.pos)
	r.record++
	r.pos += len(frame)
	n := len(frame) - footerSize
	data := frame[headerSize:n:n]
	if r.opts.Checksum == ChecksumFull {
		if stored, crc := binary.LittleEndian.Uint32(frame[n:]), maskedCRC(data); stored != crc {
			return r.damaged(frame, data)
		}
	}
	return data, nil
}

// damaged returns the data of a frame with a wrong checksum if they are right when fetched again.
func (r *Reader) damaged(frame, data []byte) ([]byte, error) {
	if err := r.refetch(frame, r.offset); err != nil {
		r.err = r.at(r.record, r.offset, PartData, fmt.Errorf("reading: %w", err))
		r.pos, r.end = 0, 0
		return nil, r.err
	}
	stored, crc := binary.LittleEndian.Uint32(frame[len(frame)-footerSize:]), maskedCRC(data)
	if stored != crc {
		return r.reread(r.record, r.at(r.record, r.offset, PartDataCRC, mismatch(stored, crc)))
	}
	return data, nil
}

// buffered returns the next frame if all of it is in the buffer and its length is valid; nil leaves
// it to load.
func (r *Reader) buffered() []byte {
	p := r.buf[r.pos:r.end]
	if len(p) < Overhead {
		return nil
	}
	length := binary.LittleEndian.Uint64(p)
	if length > uint64(len(p)-Overhead) || length > r.max {
		return nil
	}
	if r.opts.Checksum != ChecksumOff && maskedLengthCRC(length) != binary.LittleEndian.Uint32(p[8:]) {
		return nil
	}
	return p[:Overhead+int(length)]
}

// Frame returns the frame at Offset, including header and footer. It is valid as long as the
// record.
func (r *Reader) Frame() []byte {
	if r.record < 0 || r.pos == 0 {
		return nil
	}
	from := int(r.offset - r.base)
	return r.buf[from:r.pos:r.pos]
}

// All returns the remaining records, each valid until the next iteration. An error comes with a nil
// record; a loop that continues after it gets what Next would return, and ends after a final error.
func (r *Reader) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			record, err := r.Next()
			if err == io.EOF || !yield(record, err) || r.err != nil {
				return
			}
		}
	}
}

// Offset returns where the frame of the last record begins in the uncompressed stream, including a
// record with corrupt data; 0 before the first.
func (r *Reader) Offset() int64 { return r.offset }

// Record returns the number, from 0, of the record at Offset; -1 before the first.
func (r *Reader) Record() int64 { return r.record }

// Compression returns the requested compression or, after the first Next, the detected one. It is
// CompressionNone for an empty file.
func (r *Reader) Compression() Compression { return r.found }

// Close releases the decompressor. It does not close the underlying reader. Next fails after Close,
// until a Reset.
func (r *Reader) Close() error {
	r.dec.close()
	r.pos, r.end = 0, 0
	r.err = ErrClosed
	return nil
}

// Locate adds file, record and offset to an error from parsing the last record, as by
// [Example.Parse]. Other errors are returned unchanged.
func (r *Reader) Locate(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Record >= 0 {
		return err
	}
	return r.at(r.record, r.offset, e.Part, fmt.Errorf("byte %d of the record: %w", e.Offset, e.Err))
}
