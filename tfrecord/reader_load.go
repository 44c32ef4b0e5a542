package tfrecord

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// load brings the next frame into the buffer, whatever it takes: the slow twin
// of buffered, and the one that finds words for what is wrong. Its errors are
// final.
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
	head := r.buf[r.pos:r.end]
	length, stored := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint32(head[8:])
	if crc := maskedLengthCRC(length); crc != stored && r.opts.Checksum != ChecksumOff {
		return nil, r.fault(PartLengthCRC, mismatch(stored, crc))
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

// open finds out the compression and sets r.in up.
func (r *Reader) open() error {
	if r.buf == nil {
		r.buf = make([]byte, r.opts.BufferSize)
	}
	if r.opts.Compression == Auto {
		r.in = &r.src
		have, err := r.fill(detectSize)
		if err != nil && err != io.EOF {
			r.found = None
			return r.short(PartLength, have, 8, err)
		}
		r.found = detect(r.buf[r.pos:r.end])
	}
	if r.found == None {
		r.in = &r.src
		return nil
	}
	// What was read to detect it is the decompressor's to read again.
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

// fill reads until n bytes of the next frame are in the buffer. It says how
// many there are, and with fewer than n why.
func (r *Reader) fill(n int) (have int, err error) {
	if r.end-r.pos < n && r.pos > 0 {
		// What is left is part of one frame: little to move, seldom.
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

// growth is how many times larger grow makes the buffer. A fresh buffer takes memory
// only where it is written to, so that a large factor costs nothing but address space,
// while each copy of what has come in is held beside it until the collector comes.
const growth = 8

// grow makes the full buffer larger on the way to n bytes. It takes no more than
// growth times what has come in, for a length may claim anything, unless it is known
// that so much is still to come.
func (r *Reader) grow(n int) {
	size := n + n/8 // the next record may be a little longer
	if r.compressed || int64(n-(r.end-r.pos)) > left(r.src.r) {
		for size/growth > len(r.buf) {
			size /= growth // so that the last step is a full one
		}
	}
	r.buf = append(make([]byte, 0, size), r.buf...)[:size]
}

// left returns how much of a source is still to be read, at least; 0 where that
// is not known.
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

// short is the error for a stream that ended, in whatever way, when only have
// of want bytes of a part were there.
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

// fault is an error in the frame that begins at pos.
func (r *Reader) fault(part Part, err error) error {
	if r.record < 0 && r.base == 0 && r.src.err == nil {
		err = r.foreign(part, err)
	}
	return r.at(r.record+1, r.base+int64(r.pos), part, err)
}

// foreign adds to an error in record 0 that the file may hold no records, or what it
// holds instead.
func (r *Reader) foreign(part Part, err error) error {
	var head []byte
	compression := r.found
	switch part {
	case PartLength, PartLengthCRC:
		r.fill(recognizeSize) // or as much as there is
		r.src.err = nil       // an error of this read is not what is reported
		head = r.buf[r.pos:r.end]
	case PartCompression: // what begins like a compressed stream may be text
		head, compression = r.raw, None
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
