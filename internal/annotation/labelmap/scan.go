package labelmap

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	atEnd kind = iota
	isWord
	isNumber
	isText // with its quotes
	isSymbol
	isBad // a string that is not closed
)

// scanner reads the tokens of protocol buffers' text format.
type scanner struct {
	data  []byte
	at    int // after the token
	from  int // of the token
	kind  kind
	token []byte
}

// next reads a token.
func (s *scanner) next() {
	s.blanks()
	s.from = s.at
	if s.at == len(s.data) {
		s.kind, s.token = atEnd, nil
		return
	}
	switch c := s.data[s.at]; {
	case isLetter(c):
		s.kind = isWord
		s.while(func(c byte) bool { return isLetter(c) || isDigit(c) })
	case isDigit(c), c == '.' && s.at+1 < len(s.data) && isDigit(s.data[s.at+1]):
		s.number()
	case c == '"' || c == '\'':
		s.text(c)
	default:
		s.kind = isSymbol
		s.at++
	}
	s.token = s.data[s.from:s.at]
}

// symbol skips a character, if it is next.
func (s *scanner) symbol(c byte) bool {
	if s.kind != isSymbol || s.token[0] != c {
		return false
	}
	s.next()
	return true
}

// blanks skips white space and comments.
func (s *scanner) blanks() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\n', '\r', '\v', '\f':
			s.at++
		case '#':
			s.while(func(c byte) bool { return c != '\n' })
		default:
			return
		}
	}
}

func (s *scanner) while(is func(c byte) bool) {
	for s.at < len(s.data) && is(s.data[s.at]) {
		s.at++
	}
}

// number reads what may be a number of any kind; integer checks those that are used.
func (s *scanner) number() {
	s.kind = isNumber
	for s.at < len(s.data) {
		c := s.data[s.at]
		if (c == '-' || c == '+') && s.data[s.at-1]|0x20 != 'e' || c != '-' && c != '+' && c != '.' && !isLetter(c) && !isDigit(c) {
			return
		}
		s.at++
	}
}

// text reads a string until a quote.
func (s *scanner) text(quote byte) {
	s.kind = isBad // until it is closed
	for s.at++; s.at < len(s.data) && s.data[s.at] != '\n'; s.at++ {
		switch s.data[s.at] {
		case quote:
			s.kind = isText
			s.at++
			return
		case '\\':
			if s.at++; s.at == len(s.data) {
				return
			}
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool  { return c-'0' <= 9 }

var errEscape = errors.New("a bad escape in a string")

// escapes maps the letters of escapes to their characters.
var escapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"', '?': '?'}

// appendUnescaped appends the value of a string without its quotes.
func appendUnescaped(dst, s []byte) ([]byte, error) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		if i++; i == len(s) {
			return dst, errEscape
		}
		c := s[i]
		if plain, ok := escapes[c]; ok {
			dst = append(dst, plain)
			continue
		}
		from, base, most, least := i+1, 16, 0, 0
		switch c {
		case 'x', 'X':
			most, least = 2, 1
		case 'u':
			most, least = 4, 4
		case 'U':
			most, least = 8, 8
		default:
			from, base, most, least = i, 8, 3, 1
		}
		to := from
		for to < len(s) && to < from+most && isDigitOf(s[to], base) {
			to++
		}
		v, err := strconv.ParseUint(string(s[from:to]), base, 32)
		switch {
		case err != nil || to < from+least:
			return dst, errEscape
		case least < 4 && v > 0xff, least >= 4 && !utf8.ValidRune(rune(v)):
			return dst, errEscape
		case least < 4:
			dst = append(dst, byte(v))
		default:
			dst = utf8.AppendRune(dst, rune(v))
		}
		i = to - 1
	}
	return dst, nil
}

func isDigitOf(c byte, base int) bool {
	return c >= '0' && c <= '7' || base == 16 && (isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f')
}
