package labelmap

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/annotation"
)

// Append appends classes as a label map, in their order. Names may hold any bytes: those that are
// not UTF-8, and control characters, are escaped. Braces in names are escaped too, for programs
// that read label maps with regular expressions.
func Append(dst []byte, classes []annotation.Class) []byte {
	for _, c := range classes {
		dst = append(dst, "item {\n  id: "...)
		dst = strconv.AppendInt(dst, c.ID, 10)
		dst = append(dst, "\n  name: \""...)
		dst = appendEscaped(dst, c.Name)
		dst = append(dst, "\"\n}\n"...)
	}
	return dst
}

func appendEscaped(dst []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r < ' ' || r == '{' || r == '}' || r == 0x7f || r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\%03o`, s[0])
		default:
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return dst
}
