package png

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// Signature is the beginning of every PNG.
const Signature = "\x89PNG\r\n\x1a\n"

// Error describes a fault in a PNG.
type Error struct {
	// Offset is the position in the file of the fault, or of the chunk that has it.
	Offset int
	// Reason describes the fault.
	Reason string
	// Unsupported reports whether the file may be undamaged, but uses features outside the
	// standard.
	Unsupported bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s, at byte %d", e.Reason, e.Offset) }

// faulty returns an error at a byte of the file.
func faulty(offset int, format string, args ...any) error {
	return &Error{Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// chunk is a chunk of a file.
type chunk struct {
	offset int // of its first byte in the file
	name   string
	body   []byte
	sum    []byte // its checksum
	summed []byte // what that is of
}

// peek returns the next chunk, whose checksum is not yet verified.
func (r *Reader) peek() (chunk, error) {
	c := chunk{offset: r.at}
	rest := r.data[r.at:]
	if len(rest) == 0 {
		return c, faulty(r.at, "no chunk IEND: the file ends")
	}
	if len(rest) < 8 {
		return c, faulty(r.at, "the file ends in a chunk")
	}
	size := binary.BigEndian.Uint32(rest)
	c.name = chunkName(rest[4:8])
	if int64(size)+12 > int64(len(rest)) {
		return c, faulty(r.at, "the file ends in chunk %s of %d bytes", c.name, size)
	}
	c.body, c.sum, c.summed = rest[8:8+size], rest[8+size:12+size], rest[4:8+size]
	return c, nil
}

// chunkName is the name of a chunk, quoted unless it has letters only.
func chunkName(name []byte) string {
	switch string(name) { // without allocating
	case "IDAT":
		return "IDAT"
	case "IEND":
		return "IEND"
	}
	for _, c := range name {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return fmt.Sprintf("%q", name)
		}
	}
	return string(name)
}

// pass verifies the checksum of a chunk, and passes it.
func (r *Reader) pass(c chunk) error {
	if crc32.ChecksumIEEE(c.summed) != binary.BigEndian.Uint32(c.sum) {
		return faulty(c.offset, "wrong checksum (CRC-32) of chunk %s", c.name)
	}
	r.at = c.offset + 8 + len(c.body) + 4
	return nil
}

// stage is the progress through the file.
type stage uint8

const (
	atStart stage = iota
	afterIHDR
	afterPLTE
	afterTRNS
	afterIDAT
)

// walk reads chunks up to one of the given name, IDAT or IEND, which it passes and returns.
func (r *Reader) walk(name string) (chunk, error) {
	for {
		c, err := r.peek()
		if err != nil {
			return c, err
		}
		if err := r.look(c); err != nil {
			return c, err
		}
		if err := r.pass(c); err != nil {
			return c, err
		}
		if c.name == name {
			return c, nil
		}
	}
}

// look checks that a chunk may come here, and reads it if it is of those before IDAT.
func (r *Reader) look(c chunk) error {
	paletted := r.Color == Palette
	expected := true
	next := r.stage
	switch c.name {
	case "IHDR":
		expected, next = r.stage == atStart, afterIHDR
	case "PLTE":
		expected, next = r.stage == afterIHDR, afterPLTE
	case "tRNS":
		expected = r.stage == afterPLTE && (paletted || r.Color == RGB) || r.stage == afterIHDR && !paletted
		next = afterTRNS
	case "IDAT": // more of them after the pixels are ignored
		expected, next = r.stage > afterIHDR || r.stage == afterIHDR && !paletted, afterIDAT
	case "IEND":
		expected = r.stage == afterIDAT
	}
	if !expected {
		return faulty(c.offset, "chunk %s out of order", c.name)
	}
	r.stage = next
	switch c.name {
	case "IHDR":
		return r.header(c)
	case "PLTE":
		return r.palette(c)
	case "tRNS":
		return r.transparency(c)
	case "IEND":
		if len(c.body) != 0 {
			return faulty(c.offset, "chunk IEND of %d bytes", len(c.body))
		}
	}
	return nil
}

// Piece implements inflate.Source: the pixels of consecutive chunks IDAT.
func (r *Reader) Piece() ([]byte, error) {
	piece := r.first
	r.first = nil
	if piece == nil {
		c, err := r.peek()
		if err != nil {
			return nil, err
		}
		if c.name != "IDAT" {
			return nil, io.EOF
		}
		if err := r.pass(c); err != nil {
			return nil, err
		}
		piece = c.body
	}
	r.begun, r.size = r.begun+int64(r.size), len(piece)
	return piece, nil
}
