package coco

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/tfrec/tfrec/internal/swar"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// drop forgets the window up to the position.
func (s *splitter) drop() {
	b := s.batch
	b.data = append(b.data[:0], b.data[s.at:]...)
	b.offset += int64(s.at)
	s.at, s.start = 0, 0
}

func (s *splitter) fault(reason string) error {
	return &positionError{s.batch.offset + int64(s.at), errors.New(reason)}
}

// fill reads more of the file into the window.
func (s *splitter) fill() error {
	if s.skip {
		s.drop()
	}
	if err := s.checkLength(len(s.batch.data)); err != nil {
		return err
	}
	have := len(s.batch.data)
	buf := slices.Grow(s.batch.data, step)
	n, err := io.ReadAtLeast(s.r, buf[have:cap(buf)], 1)
	s.batch.data = buf[:have+n]
	if err == io.EOF {
		return &positionError{s.batch.offset + int64(have), errCut}
	}
	return err
}

// checkLength returns an error if the value that ends at end is too long.
func (s *splitter) checkLength(end int) error {
	if end-s.start <= maxElement {
		return nil
	}
	s.at = s.start
	return s.fault(fmt.Sprintf("a value of more than %d bytes", maxElement))
}

// peek skips blanks, which are as long as a value at most, and returns the next byte.
func (s *splitter) peek() (byte, error) {
	s.start = s.at
	for {
		for ; s.at < len(s.batch.data); s.at++ {
			if c := s.batch.data[s.at]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				s.start = s.at
				return c, nil
			}
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// more is [jsonscan.Cursor.More].
func (s *splitter) more(n int, end byte) (bool, error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, err
	case c == end:
		s.at++
		return false, nil
	case n == 0:
		return true, nil
	case c == ',':
		s.at++
		return true, nil
	}
	return false, s.fault("want a comma or " + string(end))
}

// value moves past the value at the position.
func (s *splitter) value() error {
	s.start = s.at
	switch s.batch.data[s.at] {
	case '"':
		s.at++
		return s.text()
	case '[', '{':
		return s.brackets()
	}
	for {
		for ; s.at < len(s.batch.data); s.at++ {
			switch s.batch.data[s.at] {
			case ',', ']', '}', ' ', '\n', '\r', '\t':
				return nil
			}
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// brackets moves past a list or an object.
func (s *splitter) brackets() error {
	for depth := 0; ; {
		if s.at = bracketOrQuote(s.batch.data, s.at); s.at == len(s.batch.data) {
			if err := s.fill(); err != nil {
				return err
			}
			continue
		}
		c := s.batch.data[s.at]
		s.at++
		switch c {
		case '"':
			if err := s.text(); err != nil {
				return err
			}
		case '[', '{':
			if depth++; depth > maxDepth {
				return s.fault(fmt.Sprintf("lists and objects are nested more than %d deep", maxDepth))
			}
		default:
			if depth--; depth == 0 {
				return nil
			}
		}
	}
}

// text moves past the end of a string, from a position in it.
func (s *splitter) text() error {
	for {
		s.at = jsonscan.Special(s.batch.data, s.at)
		for s.at+1 >= len(s.batch.data) { // an escape may need the next byte
			if s.at < len(s.batch.data) && s.batch.data[s.at] == '"' {
				break
			}
			if err := s.fill(); err != nil {
				return err
			}
			s.at = jsonscan.Special(s.batch.data, s.at)
		}
		c := s.batch.data[s.at]
		s.at++
		switch c {
		case '"':
			return nil
		case '\\':
			s.at++
		}
	}
}

// bracketOrQuote returns the position from at on of the first bracket, brace or quote; the length
// of s if there is none.
func bracketOrQuote(s []byte, at int) int {
	for ; at+8 <= len(s); at += 8 {
		w := binary.LittleEndian.Uint64(s[at:])
		// Brackets and braces are 0x5b, 0x5d, 0x7b and 0x7d: with these bits set, all are 0x7f, as
		// are some others.
		quote, bracket := w^'"'*swar.Ones, (w|0x26*swar.Ones)^0x7f*swar.Ones
		m := (((quote - swar.Ones) &^ quote) | ((bracket - swar.Ones) &^ bracket)) & swar.Highs
		for m != 0 {
			i := at + bits.TrailingZeros64(m)>>3
			if isBracketOrQuote(s[i]) {
				return i
			}
			m &= m - 1
		}
	}
	for at < len(s) && !isBracketOrQuote(s[at]) {
		at++
	}
	return at
}

func isBracketOrQuote(c byte) bool {
	return c == '"' || c|0x20 == '{' || c|0x20 == '}'
}
