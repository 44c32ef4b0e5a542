package inflate

import (
	"errors"
	"hash/crc32"
	"io"
)

// Format is the container format of the compressed data.
type Format uint8

const (
	// Raw is one DEFLATE stream.
	Raw Format = iota
	// Zlib is a DEFLATE stream with zlib's header and the Adler-32 of its content.
	Zlib
	// ZlibStreams is any number of zlib streams, up to the end of the data.
	ZlibStreams
	// Gzip is any number of members (RFC 1952), up to the end of the data: DEFLATE streams with a
	// header, the CRC-32 of the content and its length. Zeros after the last member are skipped, as by
	// gzip(1): tapes and block devices pad with them.
	Gzip
)

const (
	window     = 32 << 10  // that distances reach back
	bufferSize = 128 << 10 // at least: the window and the data ahead
	// slack is the room that a turn of decodeFast may write to: literals, and a match copied by 32
	// bytes.
	slack = 4*2 + 258 + 64
)

// state is the next item in the compressed data.
type state uint8

const (
	between   state = iota // streams: there may be another one
	inHeader               // of the format
	inBlock                // the header of a block
	inStored               // bytes of a stored block
	inCodes                // symbols
	inTrailer              // of the format
	inPadding              // zeros after the last gzip member
	atEnd
)

// Reader decompresses one stream at a time. Its zero value is ready for [Reader.Reset].
type Reader struct {
	codec codec

	source   Source
	format   Format
	state    state
	last     bool  // the block is
	ended    bool  // the source has no more
	streams  bool  // one has ended
	passed   int64 // bytes of the pieces before this one
	stored   int   // bytes left of a stored block
	checksum uint32
	length   uint32 // of the content, modulo 2^32
	err      error
	buffer   []byte
	taken    int // how far the caller has the buffer
	summed   int // how far the checksum has
	lit      [litSize]uint32
	dist     [distSize]uint32
	lengths  [maxLit + maxDist]uint8
	pre      [1 << preBits]uint32
	literals []uint8 // bits of the codes of literals
}

// codec is the state of decodeFast. The assembly knows its layout.
type codec struct {
	bits  uint64 // of the data, the next one lowest; zeros above count
	count uint64 // of them
	in    []byte // the piece
	at    int    // how far bits has it
	out   []byte // the buffer
	pos   int    // how far it is filled
	start int    // the start of this stream's content in it, or of the part that is kept
	lit   *[litSize]uint32
	dist  *[distSize]uint32
}

// Reset begins a stream. The memory of the last one is reused.
func (r *Reader) Reset(source Source, format Format) {
	if r.buffer == nil {
		r.buffer = make([]byte, bufferSize)
	}
	r.codec = codec{out: r.buffer}
	r.source, r.format, r.ended, r.streams, r.passed, r.err, r.taken = source, format, false, false, 0, nil, 0
	r.begin()
	if r.state = between; format <= Zlib {
		r.state = inHeader
	}
}

// begin begins a stream, which refers to nothing before it.
func (r *Reader) begin() {
	r.codec.start, r.summed = r.codec.pos, r.codec.pos
	r.state, r.last, r.stored, r.checksum, r.length = inHeader, false, 0, 1, 0
	if r.format == Gzip {
		r.checksum = 0
	}
}

// Release drops the source, and memory beyond the amount for a small stream.
func (r *Reader) Release() {
	r.source, r.codec = nil, codec{}
	if len(r.buffer) > bufferSize {
		r.buffer = nil
	}
	r.err = errors.New("inflate: the reader was released")
}

// Consumed returns the number of bytes of the compressed data that were used, including one of
// which only some bits were used.
func (r *Reader) Consumed() int64 { return r.passed + int64(r.codec.at) - int64(r.codec.count/8) }

// Next returns the next n bytes, which are valid until the next call. If the stream ends before
// them, it returns fewer: none and io.EOF if all were taken and the stream is whole, otherwise the
// rest and io.ErrUnexpectedEOF. Other errors are the source's, and [*Error].
func (r *Reader) Next(n int) ([]byte, error) {
	for r.codec.pos-r.taken < n && r.err == nil {
		r.err = r.fill(n)
	}
	rest := r.codec.out[r.taken:r.codec.pos:r.codec.pos]
	if len(rest) >= n {
		r.taken += n
		return rest[:n:n], nil
	}
	if r.err == io.EOF && len(rest) > 0 {
		r.taken = r.codec.pos
		return rest, io.ErrUnexpectedEOF
	}
	return rest, r.err
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for r.codec.pos == r.taken && r.err == nil {
		r.err = r.fill(1)
	}
	n = copy(p, r.codec.out[r.taken:r.codec.pos])
	r.taken += n
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}

// fill decompresses until there are n bytes for the caller, and further while the piece of data and
// the buffer allow. At the end it returns io.EOF.
func (r *Reader) fill(n int) error {
	r.makeRoom(n)
	err := r.step(n)
	for err == nil && r.codec.pos-r.taken < n {
		err = r.step(n)
	}
	for err == nil && r.state != atEnd && r.codec.at < len(r.codec.in) && len(r.codec.out)-r.codec.pos > slack {
		err = r.step(n)
	}
	r.sum()
	return err
}

// sum continues the checksum, while the content is in the processor's cache.
func (r *Reader) sum() {
	content := r.codec.out[r.summed:r.codec.pos]
	r.summed = r.codec.pos
	r.length += uint32(len(content))
	switch r.format {
	case Zlib, ZlibStreams:
		r.checksum = adler(r.checksum, content)
	case Gzip:
		r.checksum = crc32.Update(r.checksum, crc32.IEEETable, content)
	}
}

// makeRoom moves the data that are still needed to the beginning of the buffer. It enlarges the
// buffer to hold n bytes in one piece.
func (r *Reader) makeRoom(n int) {
	c := &r.codec
	if len(c.out)-c.pos > slack && r.taken+n+slack < len(c.out) {
		return
	}
	keep := max(0, min(r.taken, c.pos-window))
	if need := window + n + 2*slack; len(c.out) < need {
		r.buffer = make([]byte, need+need/8)
	}
	copy(r.buffer, c.out[keep:c.pos])
	c.out = r.buffer
	c.pos, r.taken, r.summed, c.start = c.pos-keep, r.taken-keep, r.summed-keep, max(0, c.start-keep)
}
