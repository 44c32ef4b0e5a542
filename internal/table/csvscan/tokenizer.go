package csvscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/swar"
)

// Dialect has the rules that differ between tables. The quote is always ".
type Dialect struct {
	// Delimiter separates fields: any byte but ", \n and \r.
	Delimiter byte
	// Trailing means that rows may have a delimiter after their last field.
	Trailing bool
}

// valid reports whether d differs from quotes and row ends.
func (d Dialect) valid() bool {
	return d.Delimiter != '"' && d.Delimiter != '\n' && d.Delimiter != '\r' && d.Delimiter != 0
}

// Tokenizer separates rows and fields in a chunk of whole rows. It allocates nothing once it has
// seen the longest row. The zero value is not usable: see NewTokenizer. It is not safe for
// concurrent use.
type Tokenizer struct {
	delim    byte
	trailing bool
	columns  int

	data []byte
	pos  int
	line int64 // of pos

	// The candidates for delimiters and row ends in data, when it has no quote
	// and is not too long; see separators.
	plain bool
	seps  []uint32
	sep   int // the first of seps that is not after pos

	rowLine int64
	spans   []span // of the row's fields, at most columns of them when that is known
	fields  int    // in the row, stored or not
	empty   bool   // the last field of the row is empty
	scratch []byte // quoted fields of the row with their doubled quotes undone
	fault   fault
	faultAt int // field of the fault, from 0
	blank   int64
}

// span is the position of a field: in the chunk, or in scratch if inScratch is set in from.
type span struct{ from, to uint32 }

// maxColumns bounds the columns of a table.
const maxColumns = 1 << 20

// inScratch marks a span of Tokenizer.scratch. Chunks are far below 2 GiB.
const inScratch = 1 << 31

// fault is a problem of a row other than its number of fields.
type fault uint8

const (
	faultNone fault = iota
	faultAfterQuote
	faultOpenQuote
)

// NewTokenizer returns a Tokenizer for rows of the given number of columns. A
// row with another number of fields is Bad. With 0 columns any number is
// right, as for a header.
func NewTokenizer(d Dialect, columns int) *Tokenizer {
	return &Tokenizer{delim: d.Delimiter, trailing: d.Trailing, columns: columns, spans: make([]span, columns)}
}

// Reset begins again with data, which must start at the start of a row and be
// shorter than 2 GiB, and whose first line is number line. The Tokenizer reads
// data and never writes to it.
func (t *Tokenizer) Reset(data []byte, line int64) {
	if uint64(len(data)) >= inScratch {
		panic("csvscan: a chunk of 2 GiB or more")
	}
	t.data, t.pos, t.line, t.blank = data, 0, line, 0
	t.rowLine, t.fields = line, 0
	t.plain = len(data) <= maxPlain && bytes.IndexByte(data, '"') < 0
	t.seps, t.sep = t.seps[:0], 0
	if t.plain {
		t.seps = separators(t.seps, data, t.delim)
	}
}

// Line is the number of the line on which the row begins. After Next has
// reported false it is the line after the last one.
func (t *Tokenizer) Line() int64 { return t.rowLine }

// Len is the number of fields that the row really has.
func (t *Tokenizer) Len() int { return t.fields }

// Blank is the number of blank lines skipped since Reset.
func (t *Tokenizer) Blank() int64 { return t.blank }

// Field returns field i of the row, unquoted; i must be below the number of
// columns and below Len. The slice aliases the chunk, or a buffer that the
// next call of Next overwrites.
func (t *Tokenizer) Field(i int) []byte {
	s := t.spans[i]
	if s.from&inScratch != 0 {
		return t.scratch[s.from&^inScratch : s.to]
	}
	return t.data[s.from:s.to]
}

// Bad reports whether the row can't be used; Err returns the reason.
func (t *Tokenizer) Bad() bool {
	return t.fault != faultNone || t.columns != 0 && t.fields != t.columns
}

// Err returns the problem of the row: nil, or an *Error with the line that unwraps to ErrRagged,
// ErrAfterQuote or ErrOpenQuote.
func (t *Tokenizer) Err() error {
	var err error
	switch {
	case t.fault == faultOpenQuote:
		err = ErrOpenQuote
	case t.fault == faultAfterQuote:
		err = fmt.Errorf("%w in field %d: double the quotes inside a quoted field", ErrAfterQuote, t.faultAt+1)
	case t.columns != 0 && t.fields < t.columns:
		err = fmt.Errorf("%w: %d, %d too few", ErrRagged, t.fields, t.columns-t.fields)
	case t.trailing && t.fields == t.columns+1:
		err = fmt.Errorf("%w: %d, of which the header names %d: name the last, too, with %s", ErrRagged, t.fields, t.columns, optname.CSVOptionsColumns)
	case t.columns != 0 && t.fields > t.columns:
		err = fmt.Errorf("%w: %d, %d too many", ErrRagged, t.fields, t.fields-t.columns)
	default:
		return nil
	}
	return &Error{Line: t.rowLine, Err: err}
}

// Next advances to the next row and reports whether there is one.
func (t *Tokenizer) Next() bool {
	t.fault, t.scratch = faultNone, t.scratch[:0]
	if t.columns != 1 {
		t.skipBlank()
	}
	t.rowLine = t.line
	if t.pos >= len(t.data) {
		t.fields = 0
		return false
	}

	if t.plain {
		t.nextPlain()
	} else {
		t.nextQuoted()
	}
	if t.trailing && t.fields == t.columns+1 && t.empty {
		t.fields--
	}
	return true
}

// nextPlain reads a row of a chunk without quotes.
func (t *Tokenizer) nextPlain() {
	data, delim, seps, spans := t.data, t.delim, t.seps, t.spans
	from, i, n := t.pos, t.sep, 0
	for {
		at := len(data)
		if i < len(seps) {
			at = int(seps[i])
			i++
			if c := data[at]; c != delim && c != '\n' && c != '\r' {
				continue // a control character in the text
			}
		}
		if n < len(spans) {
			spans[n] = span{uint32(from), uint32(at)}
		} else if t.columns == 0 && n < maxColumns {
			spans = append(spans, span{uint32(from), uint32(at)})
		}
		n++
		from = at + 1
		if at < len(data) && data[at] == delim {
			continue
		}
		if at < len(data) {
			t.line++
			if data[at] == '\r' && from < len(data) && data[from] == '\n' {
				from++
				i++
			}
		}
		t.empty = at > t.pos && data[at-1] == delim
		break
	}
	t.pos, t.sep, t.fields, t.spans = min(from, len(data)), i, n, spans
}

// nextQuoted reads a row of any chunk.
func (t *Tokenizer) nextQuoted() {
	data, delim, pos, n := t.data, t.delim, t.pos, 0
	delims := uint64(delim) * swar.Ones
	for {
		var s span
		if pos < len(data) && data[pos] == '"' {
			s, pos = t.quoted(pos, n)
		} else {
			from := pos
			for {
				if pos+8 > len(data) {
					for pos < len(data) && data[pos] != delim && data[pos] != '\n' && data[pos] != '\r' {
						pos++
					}
					break
				}
				// The lowest mark is exact: a borrow affects only bytes above one that was really
				// found. Any control character below 0x0e is marked with \n and \r; they are rare
				// in text.
				w := binary.LittleEndian.Uint64(data[pos:])
				x := w ^ delims
				m := ((x-swar.Ones)&^x | (w-0x0e*swar.Ones)&^w) & swar.Highs
				if m == 0 {
					pos += 8
					continue
				}
				pos += bits.TrailingZeros64(m) >> 3
				if c := data[pos]; c == delim || c == '\n' || c == '\r' {
					break
				}
				pos++
			}
			s = span{uint32(from), uint32(pos)}
		}
		if n < len(t.spans) {
			t.spans[n] = s
		} else if t.columns == 0 && n < maxColumns {
			t.spans = append(t.spans, s)
		}
		n++
		t.empty = s.from == s.to
		if pos >= len(data) {
			break
		}
		c := data[pos]
		pos++
		if c == delim {
			continue
		}
		if c == '\r' && pos < len(data) && data[pos] == '\n' {
			pos++
		}
		t.line++
		break
	}
	t.pos, t.fields = pos, n
}

// skipBlank skips blank lines and counts them.
func (t *Tokenizer) skipBlank() {
	for t.pos < len(t.data) {
		switch t.data[t.pos] {
		case '\r':
			if t.pos+1 < len(t.data) && t.data[t.pos+1] == '\n' {
				t.pos++
			}
		case '\n':
		default:
			return
		}
		t.pos++
		t.line++
		t.blank++
		for t.sep < len(t.seps) && int(t.seps[t.sep]) < t.pos {
			t.sep++
		}
	}
}

// quoted reads the field n whose opening quote is at pos. It returns the field and the position of
// the delimiter or row end after it.
func (t *Tokenizer) quoted(pos, n int) (span, int) {
	data := t.data
	from, start := pos+1, len(t.scratch)
	for {
		i := bytes.IndexByte(data[from:], '"')
		if i < 0 {
			t.setFault(faultOpenQuote, n)
			t.line += lineEnds(data[pos:])
			return span{uint32(pos + 1), uint32(len(data))}, len(data)
		}
		to := from + i
		if to+1 < len(data) && data[to+1] == '"' {
			t.scratch = append(t.scratch, data[from:to+1]...)
			from = to + 2
			continue
		}
		t.line += lineEnds(data[pos+1 : to])
		s := span{uint32(from), uint32(to)}
		if len(t.scratch) > start {
			t.scratch = append(t.scratch, data[from:to]...)
			s = span{uint32(start) | inScratch, uint32(len(t.scratch))}
		}
		to++
		if to < len(data) && data[to] != t.delim && data[to] != '\n' && data[to] != '\r' {
			t.setFault(faultAfterQuote, n)
			for to < len(data) && data[to] != t.delim && data[to] != '\n' && data[to] != '\r' {
				to++
			}
		}
		return s, to
	}
}

// setFault notes the first fault of a row.
func (t *Tokenizer) setFault(f fault, field int) {
	if t.fault == faultNone {
		t.fault, t.faultAt = f, field
	}
}

// lineEnds counts the line ends in text: \n, \r\n and lone \r are one each.
func lineEnds(text []byte) int64 {
	n := bytes.Count(text, []byte{'\n'})
	for {
		i := bytes.IndexByte(text, '\r')
		if i < 0 {
			return int64(n)
		}
		text = text[i+1:]
		if len(text) == 0 || text[0] != '\n' {
			n++
		}
	}
}
