// Package plural writes numbers with their nouns.
package plural

import (
	"fmt"
	"strings"
)

// Of is a number with its noun: "1 record", "2 records".
func Of[N ~int | ~int32 | ~int64 | ~uint64](n N, noun string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, noun))
}

// Noun is the form of a noun for a number. Of "stretch of damage" the first word changes, of "more
// file" the last.
func Noun[N ~int | ~int32 | ~int64 | ~uint64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	head, rest := noun, ""
	if i := strings.Index(noun, " of "); i >= 0 {
		head, rest = noun[:i], noun[i:]
	}
	switch last := len(head) - 1; {
	case head[last] == 'y' && !strings.ContainsRune("aeiou", rune(head[max(0, last-1)])):
		head = head[:last] + "ies"
	case head[last] == 's', head[last] == 'x', strings.HasSuffix(head, "ch"), strings.HasSuffix(head, "sh"):
		head += "es"
	default:
		head += "s"
	}
	return head + rest
}
