package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// Checksum says how much a Reader checks.
type Checksum uint8

const (
	ChecksumFull   Checksum = iota // lengths and data
	ChecksumLength                 // lengths only: framing is safe, data are taken as they are
	ChecksumOff                    // nothing: for files whose writer left the CRCs out
)

const (
	defaultMaxRecord = 1 << 30
	defaultBuffer    = 256 << 10
	minBuffer        = 64
)

// ReaderOptions are options of a [Reader]; the zero value checks all, and
// tells the compression by itself.
type ReaderOptions struct {
	// Name of the file, for errors. Default: none.
	Name string
	// Compression of the file. Default: Auto, told from its first bytes; what
	// is neither framed nor compressed is read as plain, which fails at record 0.
	Compression Compression
	// Checksum says what is checked. Default: ChecksumFull.
	Checksum Checksum
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64
	// BufferSize is how many bytes are read at a time, at least 64. Default:
	// 256 KiB. Larger records make the buffer grow, as their data come in; it
	// stays as large as the largest needed.
	BufferSize int
}

// Reader reads the records of a TFRecord file, with large reads and no
// allocation a record. It is not safe for concurrent use.
type Reader struct {
	opts       ReaderOptions
	max        uint64
	src        source
	dec        decompressor
	in         io.Reader // the uncompressed stream; nil before the first Next
	found      Compression
	compressed bool   // in is a decompressor
	raw        []byte // the beginning of the file where it is compressed
	buf        []byte // buf[pos:end] is read but not yet returned
	pos        int
	end        int
	base       int64 // offset of buf[0] in the stream
	record     int64 // of the last Next
	offset     int64 // of the last Next
	pending    error // what in.Read returned after the last byte
	err        error // final, returned by every Next from now on
}

// NewReader returns a Reader of r. It reads ahead, so r stands anywhere
// afterwards. Where r is a file, or has a method Left() int64 that tells how many
// bytes are still to come, the buffer for a large record is made at once; else it
// grows as its data come in.
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

// Next returns the next record. It is valid until the next call of Next or
// Reset, and must not be changed.
//
// At the end of the file, and only at a clean end, the error is io.EOF. Every
// other error is an [*Error] with the number and offset of the record that
// could not be read. After a data_crc error the reader stands behind the
// damaged record, and Next may go on; all other errors are final, since where
// the next record begins is not known.
func (r *Reader) Next() ([]byte, error) {
	frame := r.buffered()
	if frame == nil {
		var err error
		if frame, err = r.load(); err != nil {
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
			return nil, r.at(r.record, r.offset, PartDataCRC, mismatch(stored, crc))
		}
	}
	return data, nil
}

// buffered returns the next frame when all of it is in the buffer and its
// length is good; nil leaves it to load to find out.
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

// Frame returns the frame that Offset is about, header and footer included. It is
// valid as long as the record is.
func (r *Reader) Frame() []byte {
	if r.record < 0 || r.pos == 0 {
		return nil
	}
	from := int(r.offset - r.base)
	return r.buf[from:r.pos:r.pos]
}

// All returns the records that are left, each valid until the next turn of the
// loop. An error comes with a nil record; a loop that goes on after it sees
// what Next would return, and ends after an error that is final.
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

// Offset returns where the frame of the record last returned, or last found to
// have wrong data, begins in the uncompressed stream; 0 before the first.
func (r *Reader) Offset() int64 { return r.offset }

// Record returns the number, from 0, of the record that Offset is about; -1
// before the first.
func (r *Reader) Record() int64 { return r.record }

// Compression returns the compression that was asked for or, after the first
// Next, the one that was found. It is None for an empty file.
func (r *Reader) Compression() Compression { return r.found }

// Close frees the decompressor. It never closes what the Reader reads from.
// Next fails from then on, until a Reset.
func (r *Reader) Close() error {
	r.dec.close()
	r.pos, r.end = 0, 0
	r.err = ErrClosed
	return nil
}

// Locate adds file, record and offset to an error that parsing the record last
// returned gave, as [Example.Parse] does. Other errors it returns as they are.
func (r *Reader) Locate(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Record >= 0 {
		return err
	}
	return r.at(r.record, r.offset, e.Part, fmt.Errorf("byte %d of the record: %w", e.Offset, e.Err))
}
