package jsonl

import (
	"bytes"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
)

// ChunkSize is the number of bytes of the stream that a chunk spans; see the package comment. A
// chunk is longer only by the end of its last row.
const ChunkSize = 1 << 20

// step is the size of a read in search of the end of a chunk's last row.
const step = 64 << 10

// chunker cuts a stream into chunks of whole lines.
type chunker struct {
	r      io.Reader
	maxRow int
	offset int64 // in the stream, of the next chunk
	eof    bool
	carry  []byte // bytes from offset on that were read already
	buf    []byte // of the chunk being cut
}

// chunk is a piece of the stream. A row that is too long has no data.
type chunk struct {
	data   []byte
	offset int64
	bytes  int64
	hash   [16]byte // of a row that is too long
}

// next reads the next chunk into the capacity of buf, or a larger buffer. At the end of the stream
// the error is io.EOF.
func (c *chunker) next(buf []byte) (chunk, error) {
	c.buf = append(buf[:0], c.carry...)
	c.carry = c.carry[:0]
	span := ChunkSize - int(c.offset%ChunkSize)
	if err := c.fill(span); err != nil {
		return chunk{}, err
	}
	if len(c.buf) == 0 {
		return chunk{}, io.EOF
	}
	last := span - 1 // of the bytes at which the chunk can end
	row := 0         // where the last row begins
	if len(c.buf) > last {
		row = 1 + bytes.LastIndexByte(c.buf[:last], '\n')
	}
	for from := last; ; {
		if from < len(c.buf) {
			if i := bytes.IndexByte(c.buf[from:], '\n'); i >= 0 && from+i-row <= c.maxRow {
				return c.cut(from + i + 1), nil
			}
		}
		switch {
		case len(c.buf)-row > c.maxRow && row > 0:
			return c.cut(row), nil
		case len(c.buf)-row > c.maxRow:
			return c.skipRow()
		case c.eof:
			return c.cut(len(c.buf)), nil
		}
		from = max(from, len(c.buf))
		if err := c.fill(len(c.buf) + min(max(step, len(c.buf)/2), 4*ChunkSize)); err != nil {
			return chunk{}, err
		}
	}
}

// cut returns the chunk that ends at end.
func (c *chunker) cut(end int) chunk {
	found := chunk{data: c.buf[:end], offset: c.offset, bytes: int64(end)}
	c.carry = append(c.carry, c.buf[end:]...)
	c.offset += int64(end)
	c.buf = nil
	return found
}

// skipRow returns the row that begins in the buffer and is too long.
func (c *chunker) skipRow() (chunk, error) {
	long := chunk{offset: c.offset}
	h := xxh3.New()
	for {
		end := 1 + bytes.IndexByte(c.buf, '\n')
		if end == 0 {
			end = len(c.buf)
		}
		h.Write(c.buf[:end])
		long.bytes += int64(end)
		if end < len(c.buf) || c.eof || end > 0 && c.buf[end-1] == '\n' {
			long.hash = h.Sum128().Bytes()
			long.data = c.buf[:0]
			c.carry = append(c.carry, c.buf[end:]...)
			c.offset += long.bytes
			return long, nil
		}
		c.buf = c.buf[:0]
		if err := c.fill(ChunkSize); err != nil {
			return chunk{}, err
		}
	}
}

// fill reads until buf holds n bytes or the stream ends.
func (c *chunker) fill(n int) error {
	if len(c.buf) >= n || c.eof {
		return nil
	}
	have := len(c.buf)
	c.buf = slices.Grow(c.buf, n-have)
	got, err := io.ReadFull(c.r, c.buf[have:n])
	c.buf = c.buf[:have+got]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.eof, err = true, nil
	}
	return err
}
