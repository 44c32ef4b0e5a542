package lzw

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	minWidth = 9 // of codes, in bits
	maxWidth = 12

	codeClear = 256 // forget all strings
	codeEnd   = 257
	codeLast  = 1<<maxWidth - 1 // no string gets it: the table is full before

	noCode = -1

	// slack is more than a string takes, including the surplus bytes of the last store: each string
	// is a byte longer than an earlier one.
	slack      = 1<<maxWidth + 8
	bufferSize = 16<<10 + slack
)

var errCode = errors.New("a code without a string")

// text is a string of the table.
type text struct {
	tail uint64 // its last 1 to 8 bytes, the first of them lowest; zeros above them
	// info is its length; from bit 16 on the code of the text before the tail, a multiple of 8
	// bytes; from bit 32 on its first byte.
	info uint64
}

const (
	prefixAt = 16
	firstAt  = 32
	lengths  = 1<<prefixAt - 1
)

// Reader decompresses one stream at a time. Its zero value is ready for [Reader.Reset].
type Reader struct {
	in    []byte
	at    int    // how far bits has it
	bits  uint64 // of the data, the next one highest
	count int    // of them; those below are zeros, or those that in has next

	width int // of the next code
	next  int // the code of the next string
	last  int // the code before, or noCode if the next code adds no string

	taken, filled int // how far the caller and the decoder have out
	err           error
	table         [1 << maxWidth]text
	out           [bufferSize]byte
}

// Reset begins a stream. The memory of the last one is reused.
func (r *Reader) Reset(data []byte) {
	if r.table[codeLast].info == 0 {
		for i := range codeClear {
			r.table[i] = text{tail: uint64(i), info: uint64(i)<<firstAt | 1}
		}
		r.table[codeLast].info = 2 // zeros, in x/image
	}
	r.in, r.at, r.bits, r.count = data, 0, 0, 0
	r.taken, r.filled, r.err = 0, 0, nil
	r.width, r.next, r.last = minWidth, codeEnd, noCode
}

// Read implements io.Reader. After the code for the end it returns io.EOF, and where the data end
// before that io.ErrUnexpectedEOF.
func (r *Reader) Read(p []byte) (n int, err error) {
	if r.taken == r.filled && r.err == nil {
		r.taken, r.filled = 0, 0
		r.err = r.decode()
	}
	if r.taken == r.filled && len(p) > 0 {
		return 0, r.err
	}
	n = copy(p, r.out[r.taken:r.filled])
	r.taken += n
	return n, nil
}

// decode fills the buffer, until it has no room for any string. At the end of the stream it returns
// io.EOF.
func (r *Reader) decode() error {
	in, at, bits, count := r.in, r.at, r.bits, r.count
	width, next, last := r.width, r.next, r.last
	filled, table, out := r.filled, &r.table, &r.out
	before := table[last&codeLast]
	var err error
decoding:
	for filled < len(out)-slack {
		if at+8 <= len(in) {
			bits |= binary.BigEndian.Uint64(in[at:]) >> (count & 63)
			at += (63 - count) >> 3
			count |= 56
		} else {
			for ; count <= 56 && at < len(in); at++ {
				bits |= uint64(in[at]) << (56 - count)
				count += 8
			}
			if count < width {
				err = io.ErrUnexpectedEOF
				break
			}
		}
		for widen := 1<<width - 1; count >= width && filled < len(out)-slack; {
			code := int(bits >> (-width & 63))
			bits <<= width & 63
			count -= width
			s := table[code&codeLast]
			if last != noCode {
				// The string of the code before, and the first byte of this one, are a new string.
				first := s.info >> firstAt
				if code >= next {
					if code > next {
						err = errCode
						break decoding
					}
					first = before.info >> firstAt
				}
				longer := text{before.tail | first<<(before.info&7*8), before.info + 1}
				if before.info&7 == 0 {
					longer = text{first, longer.info&^(lengths<<prefixAt) | uint64(last)<<prefixAt}
				}
				table[next&codeLast] = longer
				if code == next {
					s = longer
				}
			} else if code > next {
				err = errCode
				break decoding
			}
			switch length := int(s.info & lengths); {
			case uint(length-1) < 8:
				binary.LittleEndian.PutUint64(out[filled:], s.tail)
				filled += length
			case length > 0:
				put(out[filled:filled+slack], s, table)
				filled += length
			case code == codeEnd:
				err = io.EOF
				break decoding
			default:
				width, next, last = minWidth, codeEnd, noCode
				continue decoding
			}
			before, last = s, code
			if next++; next >= widen {
				if width < maxWidth {
					width++
					continue decoding
				}
				next, last = codeLast, noCode
			}
		}
	}
	r.at, r.bits, r.count = at, bits, count
	r.width, r.next, r.last = width, next, last
	r.filled = filled
	return err
}

// put writes a string and perhaps some bytes after it.
func put(out []byte, s text, table *[1 << maxWidth]text) {
	for i := (int(s.info&lengths) - 1) &^ 7; ; i -= 8 {
		binary.LittleEndian.PutUint64(out[i:], s.tail)
		if i == 0 {
			return
		}
		s = table[s.info>>prefixAt&codeLast]
	}
}
