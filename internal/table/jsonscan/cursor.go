package jsonscan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/swar"
)

// Cursor is a position in a text. Its methods move it past what they read; after a fault its
// position is anywhere in the text.
type Cursor struct {
	Data []byte
	At   int
	// Replace reads an escaped half of a surrogate pair as U+FFFD, like encoding/json; without it,
	// there is a fault.
	Replace bool

	scratch []byte // of strings with escapes
}

// Reset places the cursor at the start of a text.
func (c *Cursor) Reset(text []byte) { c.Data, c.At = text, 0 }

// Peek skips blanks and returns the next byte, 0 at the end of the text.
func (c *Cursor) Peek() byte {
	for c.At < len(c.Data) {
		if b := c.Data[c.At]; b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b
		}
		c.At++
	}
	return 0
}

// Word skips a word, if it is next.
func (c *Cursor) Word(w string) bool {
	end := c.At + len(w)
	if end > len(c.Data) || string(c.Data[c.At:end]) != w {
		return false
	}
	c.At = end
	return true
}

// Number reads a number. It is an integer if it has neither a point nor an exponent. Without a
// number at the cursor it is not ok, and the cursor stays.
func (c *Cursor) Number() (text []byte, integer, ok bool) {
	line, at := c.Data, c.At
	digits := func() bool {
		first := at
		for at < len(line) && line[at]-'0' <= 9 {
			at++
		}
		return at > first
	}
	if at < len(line) && line[at] == '-' {
		at++
	}
	zero := at < len(line) && line[at] == '0'
	first := at
	if !digits() || zero && at > first+1 {
		return nil, false, false
	}
	integer = true
	if at < len(line) && line[at] == '.' {
		at++
		if integer = false; !digits() {
			return nil, false, false
		}
	}
	if at < len(line) && line[at]|0x20 == 'e' {
		at++
		if at < len(line) && (line[at] == '+' || line[at] == '-') {
			at++
		}
		if integer = false; !digits() {
			return nil, false, false
		}
	}
	text = line[c.At:at]
	c.At = at
	return text, integer, true
}

// Text reads a string at its quote. The result is valid until the next call, and as long as the
// text.
func (c *Cursor) Text() (text []byte, fault string) {
	first := c.At + 1
	at := Special(c.Data, first)
	if at < len(c.Data) && c.Data[at] == '"' {
		c.At = at + 1
		return c.Data[first:at], ""
	}
	c.scratch = c.scratch[:0]
	for {
		c.scratch = append(c.scratch, c.Data[first:at]...)
		if at == len(c.Data) {
			return nil, "a string is not closed"
		}
		switch b := c.Data[at]; {
		case b == '"':
			c.At = at + 1
			return c.scratch, ""
		case b == '\\':
			if at = c.escape(at + 1); at < 0 {
				return nil, "a bad escape in a string"
			}
		case b < 0x20:
			return nil, "a control character in a string"
		default:
			end := at + 1
			for end < len(c.Data) && c.Data[end] >= utf8.RuneSelf {
				end++
			}
			if !utf8.Valid(c.Data[at:end]) {
				return nil, "not UTF-8"
			}
			c.scratch = append(c.scratch, c.Data[at:end]...)
			at = end
		}
		first = at
		at = Special(c.Data, first)
	}
}

// escapes maps the characters that may follow a backslash to their meaning.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends the meaning of an escape to scratch, given the position after its backslash, and
// returns the position after it; negative if it is not valid.
func (c *Cursor) escape(at int) int {
	if at == len(c.Data) {
		return -1
	}
	if b := c.Data[at]; b != 'u' {
		if escapes[b] == 0 {
			return -1
		}
		c.scratch = append(c.scratch, escapes[b])
		return at + 1
	}
	r, at := c.hex(at + 1)
	if utf16.IsSurrogate(r) {
		pair, after := rune(utf8.RuneError), -1
		if at+1 < len(c.Data) && c.Data[at] == '\\' && c.Data[at+1] == 'u' {
			var low rune
			low, after = c.hex(at + 2)
			pair = utf16.DecodeRune(r, low)
		}
		switch {
		case pair != utf8.RuneError:
			at = after
		case !c.Replace:
			return -1
		}
		r = pair
	}
	if at >= 0 {
		c.scratch = utf8.AppendRune(c.scratch, r)
	}
	return at
}

// hex parses four hexadecimal digits, and returns the position after them; negative if they are
// not.
func (c *Cursor) hex(at int) (rune, int) {
	if at+4 > len(c.Data) {
		return 0, -1
	}
	var r rune
	for _, b := range c.Data[at : at+4] {
		switch {
		case b-'0' <= 9:
			b -= '0'
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0, -1
		}
		r = r<<4 | rune(b)
	}
	return r, at + 4
}

// Unexpected describes the text at the cursor and the text that is wanted.
func (c *Cursor) Unexpected(want string) string {
	return fmt.Sprintf("%s, want %s", Quoted(c.Data[c.At:]), want)
}

// Quoted is a part of a text for a message: the start of a long one.
func Quoted(text []byte) string {
	const shown = 40
	if len(text) > shown {
		return fmt.Sprintf("%q...", text[:shown])
	}
	return fmt.Sprintf("%q", text)
}

// Special returns the position from at on of the first byte of a string that is not plain ASCII: a
// quote, a backslash, a control character or a byte from 0x80 on; the length of s if there is none.
func Special(s []byte, at int) int {
	for ; at+8 <= len(s); at += 8 {
		w := binary.LittleEndian.Uint64(s[at:])
		quote, slash := w^'"'*swar.Ones, w^'\\'*swar.Ones
		// Exact up to the first match: a borrow only reaches bytes above it.
		m := ((quote - swar.Ones) &^ quote) | ((slash - swar.Ones) &^ slash) | (w - 0x20*swar.Ones) | w
		if m &= swar.Highs; m != 0 {
			return at + bits.TrailingZeros64(m)>>3
		}
	}
	for at < len(s) && s[at] != '"' && s[at] != '\\' && s[at]-0x20 < 0x60 {
		at++
	}
	return at
}
