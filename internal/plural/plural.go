// Package plural writes numbers with their nouns, and lists of names.
package plural

import (
	"fmt"
	"strconv"
	"strings"
)

// Of is a number with its noun: "1 record", "2 records".
func Of[N ~int | ~int32 | ~int64 | ~uint64](n N, noun string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, noun))
}

// Quoted lists names in quotes, the first most of them: "a", "b" and 2 more.
func Quoted(names []string, most int) string {
	var list []string
	for _, name := range names[:min(most, len(names))] {
		list = append(list, strconv.Quote(name))
	}
	text := strings.Join(list, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// OneOf lists alternatives: "a", "a or b", "a, b or c".
func OneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
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
