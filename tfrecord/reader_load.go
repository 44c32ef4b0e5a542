package tfrecord

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// load reads the next frame into the buffer: the slow path for buffered, which also produces the
// error messages. Its errors are final.
func (r *Reader) load() ([]byte, error) {
	if r.err == nil {
		var frame []byte
		if frame, r.err = r.tryLoad(); r.err == nil {
			return frame, nil
		}
	}
	return nil, r.err
}

func (r *Reader) tryLoad() ([]byte, error) {
	if r.in == nil {
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	if have, err := r.fill(headerSize); err != nil {
		switch {
		case have == 0 && err == io.EOF:
			return nil, io.EOF
		case have < 8:
			return nil, r.short(PartLength, have, 8, err)
		default:
			return nil, r.short(PartLengthCRC, have-8, 4, err)
		}
	}
	head := r.buf[r.pos : r.pos+headerSize]
	length, stored := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint32(head[8:])
	if crc := maskedLengthCRC(length); crc != stored && r.opts.Checksum != ChecksumOff {
		if err := r.refetch(head, r.base+int64(r.pos)); err != nil {
			return nil, r.fault(PartLength, fmt.Errorf("reading: %w", err))
		}
		length, stored = binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint32(head[8:])
		if crc = maskedLengthCRC(length); crc != stored {
			return nil, r.fault(PartLengthCRC, mismatch(stored, crc))
		}
	}
	if length > r.max {
		return nil, r.fault(PartLength, fmt.Errorf("%w: %d bytes announced, the limit is %d", ErrTooLarge, length, r.max))
	}
	size := Overhead + int(length)
	if have, err := r.fill(size); err != nil {
		if have < size-footerSize {
			return nil, r.short(PartData, have-headerSize, int(length), err)
		}
		return nil, r.short(PartDataCRC, have-headerSize-int(length), footerSize, err)
	}
	return r.buf[r.pos : r.pos+size], nil
}

// open detects the compression and sets r.in.
func (r *Reader) open() error {
	if r.buf == nil {
		r.buf = make([]byte, r.opts.BufferSize)
	}
	if r.opts.Compression == CompressionAuto {
		r.in = &r.src
		have, err := r.fill(detectSize)
		if err != nil && err != io.EOF {
			r.found = CompressionNone
			return r.short(PartLength, have, 8, err)
		}
		r.found = detect(r.buf[r.pos:r.end])
	}
	if r.found == CompressionNone {
		r.in = &r.src
		return nil
	}
	// The decompressor reads the bytes used for detection again.
	r.src.head = append([]byte(nil), r.buf[r.pos:r.end]...)
	r.raw = r.src.head[:min(len(r.src.head), recognizeSize)]
	r.pos, r.end, r.pending = 0, 0, nil
	r.compressed = true
	in, err := r.dec.open(&r.src, r.found)
	if err == io.EOF {
		return io.EOF
	}
	if err != nil {
		return r.short(PartLength, 0, 8, err)
	}
	r.in = in
	return nil
}

// fill reads until n bytes of the next frame are in the buffer. It returns how many there are, and
// if fewer than n, why.
func (r *Reader) fill(n int) (have int, err error) {
	if r.end-r.pos < n && r.pos > 0 {
		// The rest is part of one frame: little to move, rarely.
		copy(r.buf, r.buf[r.pos:r.end])
		r.base += int64(r.pos)
		r.pos, r.end = 0, r.end-r.pos
	}
	for empty := 0; r.end-r.pos < n; {
		if r.pending != nil {
			return r.end - r.pos, r.pending
		}
		if r.end == len(r.buf) {
			r.grow(n)
		}
		var k int
		k, r.pending = r.in.Read(r.buf[r.end:])
		r.end += k
		if empty++; k > 0 {
			empty = 0
		} else if empty == 100 && r.pending == nil {
			r.pending = io.ErrNoProgress
		}
	}
	return r.end - r.pos, nil
}

// growth is the factor by which grow enlarges the buffer. A fresh buffer takes memory only where it
// is written, so that a large factor costs nothing but address space, while each old copy stays in
// memory until the garbage collector runs.
const growth = 8

// grow enlarges the full buffer towards n bytes. It allocates at most growth times what was read so
// far, since a length may be bogus, unless that much is known to remain.
func (r *Reader) grow(n int) {
	size := n + n/8 // the next record may be a little longer
	if r.compressed || int64(n-(r.end-r.pos)) > left(r.src.r) {
		for size/growth > len(r.buf) {
			size /= growth // so that the last step is a full one
		}
	}
	r.buf = append(make([]byte, 0, size), r.buf...)[:size]
}

// left returns the minimum number of bytes left in a source; 0 if unknown.
func left(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Left() int64 }:
		return r.Left()
	case *os.File:
		st, err := r.Stat()
		if err != nil || !st.Mode().IsRegular() {
			return 0
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		return st.Size() - at
	}
	return 0
}

// short is the error for a stream that ended, for whatever reason, with only have of want bytes of
// a part.
func (r *Reader) short(part Part, have, want int, err error) error {
	switch {
	case err == io.EOF:
		return r.fault(part, fmt.Errorf("%w: %d of %d bytes are there", io.ErrUnexpectedEOF, have, want))
	case r.compressed && r.src.err == nil:
		return r.fault(PartCompression, fmt.Errorf("%v: %w", r.found, err))
	default:
		return r.fault(part, fmt.Errorf("reading: %w", err))
	}
}

// fault returns an error about the frame that begins at pos.
func (r *Reader) fault(part Part, err error) error {
	if r.record < 0 && r.base == 0 && r.src.err == nil {
		err = r.foreign(part, err)
	}
	return r.at(r.record+1, r.base+int64(r.pos), part, err)
}

// foreign extends an error in record 0 with the format of the file if it has no records, or with
// the possibility.
func (r *Reader) foreign(part Part, err error) error {
	var head []byte
	compression := r.found
	switch part {
	case PartLength, PartLengthCRC:
		r.fill(recognizeSize) // or as much as there is
		r.src.err = nil       // an error of this read is not reported
		head = r.buf[r.pos:r.end]
	case PartCompression: // what begins like a compressed stream may be text
		head, compression = r.raw, CompressionNone
	default:
		return err
	}
	if kind := recognize(head); kind != "" {
		return &ForeignError{Kind: kind, Compression: compression, Err: err}
	}
	if part == PartCompression {
		return err
	}
	return fmt.Errorf("%w (it may not be a TFRecord file)", err)
}

func (r *Reader) at(record, offset int64, part Part, err error) error {
	return &Error{Name: r.opts.Name, Record: record, Offset: offset, Part: part, Err: err}
}

func mismatch(stored, computed uint32) error {
	return fmt.Errorf("%w: stored %08x, computed %08x", ErrChecksum, stored, computed)
}
