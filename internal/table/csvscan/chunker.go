package csvscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/optname"
)

// ChunkSize is the number of bytes of the stream that a chunk spans; see the package comment. A
// chunk is longer only by the end of its last row.
const ChunkSize = 1 << 20

// Reading past the end of a chunk's span, in search of the end of its last
// row, starts with minStep bytes and doubles up to maxStep.
const (
	minStep = 32 << 10
	maxStep = 4 << 20
)

// chunker cuts a stream into chunks of whole rows: each holds the rows that
// begin in one span of size bytes, so that size 1 gives single rows.
type chunker struct {
	r      io.Reader
	delim  byte
	size   int
	maxRow int   // at least size
	offset int64 // in the stream, of the next chunk
	eof    bool

	carry []byte // bytes from offset on that were read already
	buf   []byte // of the chunk being cut
	span  int    // of buf: rows that begin below it belong to the chunk
	step  int
}

// next reads the next chunk into the capacity of buf, or a larger buffer, and
// returns it with its offset in the stream. At the end of the stream the error
// is io.EOF. Others are the reader's, or an *Error that unwraps to ErrOpenQuote
// or ErrRowTooLong and counts lines from 1 at the start of this chunk.
func (c *chunker) next(buf []byte) ([]byte, int64, error) {
	start := c.offset
	c.span = c.size - int(start%int64(c.size))
	c.step = minStep
	c.buf = append(buf[:0], c.carry...)
	c.carry = c.carry[:0]

	end, err := c.cut()
	buf = c.buf
	c.buf = nil
	if err != nil {
		return buf[:0], start, err
	}
	if end == 0 {
		return buf[:0], start, io.EOF
	}
	c.carry = append(c.carry, buf[end:]...)
	c.offset += int64(end)
	return buf[:end], start, nil
}

// cut finds the first row end at or after span, reading more as needed.
func (c *chunker) cut() (int, error) {
	if err := c.fill(c.span); err != nil {
		return 0, err
	}
	// Only a quote can make a row end look like one that isn't.
	pos := 0
	for pos < min(c.span, len(c.buf)) {
		i := bytes.IndexByte(c.buf[pos:min(c.span, len(c.buf))], '"')
		if i < 0 {
			break
		}
		next, err := c.skipQuote(pos + i)
		if err != nil {
			return 0, err
		}
		pos = next
	}
	for pos = max(pos, c.span-1); ; {
		// A \r needs a look at what follows.
		if err := c.fill(pos + 2); err != nil {
			return 0, err
		}
		if pos >= len(c.buf) {
			return c.checked(len(c.buf))
		}
		switch c.buf[pos] {
		case '\r':
			if pos+1 < len(c.buf) && c.buf[pos+1] == '\n' {
				pos++
			}
			return c.checked(pos + 1)
		case '\n':
			return c.checked(pos + 1)
		case '"':
			next, err := c.skipQuote(pos)
			if err != nil {
				return 0, err
			}
			pos = next
		default:
			pos++
		}
	}
}

// skipQuote returns the position after the quoted field that opens with the quote at pos, or after
// the quote when it opens none.
func (c *chunker) skipQuote(pos int) (int, error) {
	if pos > 0 {
		if before := c.buf[pos-1]; before != c.delim && before != '\n' && before != '\r' {
			return pos + 1, nil
		}
	}
	for from := pos + 1; ; {
		i := bytes.IndexByte(c.buf[from:], '"')
		if i < 0 {
			from = len(c.buf)
			if err := c.fill(from + 1); err != nil {
				return 0, err
			}
			if from == len(c.buf) {
				return 0, &Error{Line: 1 + lineEnds(c.buf[:pos]), Err: ErrOpenQuote}
			}
			continue
		}
		from += i + 1
		if err := c.fill(from + 1); err != nil {
			return 0, err
		}
		if from == len(c.buf) || c.buf[from] != '"' {
			return from, nil
		}
		from++
	}
}

// fill reads until buf holds n bytes or the stream ends.
func (c *chunker) fill(n int) error {
	for len(c.buf) < n && !c.eof {
		if len(c.buf) >= c.span {
			if _, err := c.checked(len(c.buf)); err != nil {
				return err
			}
		}
		have, want := len(c.buf), max(n-len(c.buf), 0)+c.step
		if most := max(have, minStep); have+want > max(cap(c.buf), have+most) {
			want = most // a short file takes no more memory than it is long
		} else {
			c.step = min(2*c.step, maxStep)
		}
		c.buf = slices.Grow(c.buf, want)
		got, err := io.ReadFull(c.r, c.buf[have:have+want])
		c.buf = c.buf[:have+got]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			c.eof, err = true, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checked returns end, or ErrRowTooLong when the row that ends or continues there is longer than
// maxRow.
func (c *chunker) checked(end int) (int, error) {
	if end <= c.maxRow {
		return end, nil
	}
	t := NewTokenizer(Dialect{Delimiter: c.delim}, 1)
	t.Reset(c.buf[:end], 1)
	start := 0
	for t.Next() && t.pos < min(c.span, end) {
		start = t.pos
	}
	if end-start <= c.maxRow {
		return end, nil
	}
	return 0, &Error{Line: t.Line(), Err: fmt.Errorf("%w: more than %d bytes; is a quote missing? %s raises the limit", ErrRowTooLong, c.maxRow, optname.CSVOptionsMaxRow)}
}
