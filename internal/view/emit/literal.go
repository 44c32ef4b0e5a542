package emit

import (
	"fmt"
	"strconv"
	"strings"
)

// pythonString returns a string literal of Python. Go's escapes of UTF-8 are Python's, too: control
// characters, line ends of any kind, marks that change the direction of text and other unprintable
// characters are escaped. Bytes that are not UTF-8 become Python's surrogate escapes.
func pythonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range pythonRunes(s) {
		b.WriteString(r)
	}
	b.WriteByte('"')
	return b.String()
}

// pythonRunes returns the characters of a literal.
func pythonRunes(s string) []string {
	var runes []string
	for i, r := range s {
		if r == '\uFFFD' && s[i] != "\uFFFD"[0] {
			runes = append(runes, fmt.Sprintf(`\udc%02x`, s[i])) // surrogateescape
			continue
		}
		quoted := strconv.Quote(string(r))
		runes = append(runes, quoted[1:len(quoted)-1])
	}
	return runes
}

// goString returns a string literal of Go, which is also used in comments.
func goString(s string) string { return strconv.Quote(s) }

// pythonTuple returns a shape: (2,), (28, 28). A side that varies is None.
func pythonTuple(shape []int) string {
	sides := make([]string, len(shape))
	for i, n := range shape {
		if sides[i] = strconv.Itoa(n); n < 0 {
			sides[i] = "None"
		}
	}
	if len(sides) == 1 {
		return "(" + sides[0] + ",)"
	}
	return "(" + strings.Join(sides, ", ") + ")"
}

// pythonFiles returns an expression for the names of a split's files.
func pythonFiles(s *Split) string {
	if head, tail, ok := s.Pattern(); ok {
		percent := strings.NewReplacer("%", "%%")
		return fmt.Sprintf("[%s %% i for i in range(%d)]", pythonString(percent.Replace(head)+"%05d"+percent.Replace(tail)), len(s.Files))
	}
	names := make([]string, len(s.Files))
	for i, file := range s.Files {
		names[i] = pythonString(file)
	}
	if len(names) == 1 {
		return "[" + names[0] + "]"
	}
	return "[\n        " + strings.Join(names, ",\n        ") + ",\n    ]"
}
