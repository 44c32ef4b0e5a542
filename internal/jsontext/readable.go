package jsontext

import (
	"fmt"
	"unicode/utf8"
)

// Readable returns s itself when it is valid UTF-8, and otherwise s with each
// stray byte written as \xNN: the form that names of any bytes take in JSON.
func Readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b []byte
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b = fmt.Appendf(b, `\x%02x`, s[0])
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}
