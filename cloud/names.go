package cloud

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// gocloud.dev/blob escapes characters that stores do not allow in names, as __0x2f__, and reverts
// that when it reads names. Requests that bypass it must use the same names.

var escapes = regexp.MustCompile(`__0x([^_]*)__`)

// escape returns the rune that s encodes if s is an escape.
func escape(s string) (r rune, ok bool) {
	n, err := strconv.ParseInt(s[len("__0x"):len(s)-len("__")], 16, 32)
	return rune(n), err == nil
}

// escaped returns name with the runes that are odd, and the beginnings of what looks
// like an escape, escaped.
func escaped(name string, odd func(runes []rune, i int) bool) string {
	runes := []rune(name)
	var b strings.Builder
	at := 0
	for i, r := range runes {
		looks := false
		if r == '_' {
			if where := escapes.FindStringIndex(name[at:]); where != nil && where[0] == 0 {
				_, looks = escape(name[at:][:where[1]])
			}
		}
		if looks || odd(runes, i) {
			fmt.Fprintf(&b, "__%#x__", r)
		} else {
			b.WriteRune(r)
		}
		at += len(string(r))
	}
	return b.String()
}

// unescaped undoes escaped.
func unescaped(name string) string {
	return escapes.ReplaceAllStringFunc(name, func(s string) string {
		if r, ok := escape(s); ok {
			return string(r)
		}
		return s
	})
}

// upwards reports whether the slash at i is one after two dots.
func upwards(runes []rune, i int) bool {
	return i > 1 && runes[i] == '/' && runes[i-1] == '.' && runes[i-2] == '.'
}

func s3Name(name string) string {
	return escaped(name, func(runes []rune, i int) bool { return runes[i] < ' ' || upwards(runes, i) })
}

func gsName(name string) string {
	return escaped(name, func(runes []rune, i int) bool { return runes[i] == '\n' || runes[i] == '\r' || upwards(runes, i) })
}

func azureName(name string) string {
	return escaped(name, func(runes []rune, i int) bool {
		return runes[i] < ' ' || strings.ContainsRune(`\"#%?`+"\x7f", runes[i]) || upwards(runes, i) || runes[i] == '/' && i == len(runes)-1
	})
}
