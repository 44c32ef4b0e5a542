// Package shell writes command lines that a user can paste into a shell.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Join returns the command line of a program and its arguments, each of them quoted where
// it has to be.
func Join(program string, args []string) string {
	words := []string{Quote(program)}
	for _, arg := range args {
		words = append(words, Quote(arg))
	}
	return strings.Join(words, " ")
}

// Quote returns s as one word of a command line, quoted where it has to be. A word with
// characters that cannot be printed is written as $'\xNN', which bash, zsh, ksh and busybox
// know, so that none of them reaches a terminal.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,:/@%+", r)
	}
	switch {
	case s != "" && s[0] != '=' && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }):
		return s
	case utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + s[:n])
		case r == utf8.RuneError || !unicode.IsPrint(r):
			for _, c := range []byte(s[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	b.WriteString("'")
	return b.String()
}
