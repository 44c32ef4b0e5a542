// Package labels orders the names of labels, and reads those that TFDS keeps in
// files. The id of a label is the index of its name.
//
//	names = labels.Sort(names)
//	if note := labels.Note(names, 0, optname.LabelSpecOffset); note != "" {
//		log.Print(note)
//	}
package labels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// Sort returns names in the order of their ids, each of them once. It reuses the
// slice. Names that are all integers are in numeric order, so that 0 to N-1 are
// their own ids. Otherwise, and if two names are the same integer, such as 7 and
// 007, names are in the order of their bytes.
func Sort(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	if numbers, ok := integers(names); ok {
		slices.SortFunc(numbers, integer.compare)
		for i, n := range numbers {
			names[i] = n.name
		}
	}
	return names
}

// CheckNames returns an error if a name is empty, or occurs twice.
func CheckNames(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" || seen[name] {
			return fmt.Errorf("%q is empty or occurs twice", name)
		}
		seen[name] = true
	}
	return nil
}

// Note returns a sentence about ids that differ from the ones that the names suggest, for names in
// the order of Sort whose ids begin at offset, which an option sets. It is empty when there is
// nothing to say.
func Note(names []string, offset int, option optname.Name) string {
	numbers, all := integers(names)
	switch {
	case all:
		first, consecutive := 0, true
		for i, n := range numbers {
			value, ok := n.value()
			if i == 0 {
				first = value
			}
			consecutive = consecutive && ok && value == first+i
		}
		if consecutive && first == offset {
			return ""
		}
		hint := ""
		if consecutive && first > 0 {
			hint = fmt.Sprintf(" (%s %d makes them their own ids)", option, first)
		}
		return fmt.Sprintf("labels are integers, and their ids are their ranks: %s%s", mapping(names, offset), hint)
	case len(numbers) > 0 && len(numbers) == len(names):
		a, b := repeated(numbers)
		return fmt.Sprintf("labels are integers, but %q and %q are the same one, so they are in text order: %s", a, b, mapping(names, offset))
	}
	moved := func(name string) bool {
		_, n, ok := Integer(name)
		return isInteger(name) && (!ok || n != int64(offset+slices.Index(names, name)))
	}
	if !slices.ContainsFunc(names, moved) {
		return ""
	}
	why := "labels are integers, but not all of them are only digits"
	if others := slices.DeleteFunc(slices.Clone(names), isInteger); len(others) > 0 {
		why = "not all labels are integers, such as " + plural.Quoted(others, 3)
	}
	return fmt.Sprintf("%s, so they are names in text order: %s", why, mapping(names, offset))
}

// isInteger reports whether a name is an integer: as Integer has it, or of any number of digits.
func isInteger(name string) bool {
	_, _, ok := Integer(name)
	numbers, _ := integers([]string{name})
	return ok || numbers != nil
}

// mapping lists the ids of some names: of all where they are few.
func mapping(names []string, offset int) string {
	const shown = 12
	var list []string
	for i, name := range names {
		if i >= shown-1 && i < len(names)-1 && len(names) > shown {
			if i == shown-1 {
				list = append(list, "...")
			}
			continue
		}
		list = append(list, fmt.Sprintf("%q is %d", name, offset+i))
	}
	return strings.Join(list, ", ")
}

// integer is a name that is one, of any number of digits.
type integer struct {
	name     string
	negative bool
	digits   string // without leading zeros; empty for 0
}

// integers returns the names that are integers. It reports whether they all are,
// and no two the same one.
func integers(names []string) (numbers []integer, ok bool) {
	ok = len(names) > 0
	for _, name := range names {
		digits := strings.TrimPrefix(name, "-")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			ok = false
			continue
		}
		n := integer{name: name, digits: strings.TrimLeft(digits, "0")}
		n.negative = len(digits) < len(name) && n.digits != ""
		numbers = append(numbers, n)
	}
	if ok {
		a, b := repeated(numbers)
		ok = a == b
	}
	return numbers, ok
}

// repeated returns the names of two integers that are the same one, or "" twice.
func repeated(numbers []integer) (string, string) {
	sorted := slices.SortedFunc(slices.Values(numbers), integer.compare)
	for i := range max(0, len(sorted)-1) {
		if sorted[i].compare(sorted[i+1]) == 0 {
			return sorted[i].name, sorted[i+1].name
		}
	}
	return "", ""
}

func (a integer) compare(b integer) int {
	if a.negative != b.negative {
		if a.negative {
			return -1
		}
		return 1
	}
	size := cmp.Or(cmp.Compare(len(a.digits), len(b.digits)), cmp.Compare(a.digits, b.digits))
	if a.negative {
		return -size
	}
	return size
}

// value returns the number where it is at least 0 and below a billion.
func (a integer) value() (int, bool) {
	if a.negative || len(a.digits) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(a.digits) {
		n = 10*n + int(c-'0')
	}
	return n, true
}
