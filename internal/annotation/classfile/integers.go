package classfile

import (
	"fmt"
	"strconv"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
)

// IDError is an integer that has no class in a list.
type IDError struct {
	// Digits are the digits of the integer.
	Digits string
	reason string
}

func (e *IDError) Error() string { return e.reason }

// NumberIDs returns the ids of labels that are integers, with their digits as labels.IDs returns
// them. In a label map, and if each line begins with a different integer, the classes have the
// stated ids. In other lists a number that is a name has the id of its line, and any other is the
// id itself. labels.Unlabelled stays, unless it is a name.
//
// It is an *IDError if a label has no class, and another error if its class depends on how the list
// is read.
func (l *List) NumberIDs(ids []int64, digits []string) (*Classes, error) {
	stated, missing := l.byID != nil, ""
	for i, id := range ids {
		if _, ok := l.byID[id]; !ok && id != labels.Unlabelled && stated {
			stated, missing = false, digits[i]
		}
	}
	switch {
	case l.lines == nil && !stated:
		return nil, l.noID(missing)
	case l.lines == nil || stated && l.dense:
		return l.stated(ids), nil
	}
	lookup := l.Lookup()
	c := &Classes{Names: l.lines, IDs: make([]int64, len(ids))}
	for i := range ids {
		var err error
		if c.IDs[i], err = lookup.ID(digits[i], ids[i]); err != nil {
			if stated {
				return l.stated(ids), nil
			}
			return nil, err
		}
	}
	if stated {
		return nil, fmt.Errorf("%s: all lines begin with an integer, such as %q, which may be the id or part of the name: number the lines from 0 without gaps, or list only names",
			l.from, jsontext.Readable(l.lines[0]))
	}
	return c, nil
}

// stated returns the classes of a list that states the ids.
func (l *List) stated(ids []int64) *Classes {
	names := labels.Fill(l.byID)
	numbers := make([]string, len(names))
	for id := range names {
		numbers[id] = strconv.Itoa(id)
	}
	differ(names, numbers)
	return &Classes{Names: names, IDs: ids}
}

// Lookup finds the ids of integers in a list of names, one by one.
type Lookup struct {
	list  *List
	lines map[string]int64 // of the names that are integers
	// moved is a name that is an integer, and not the number of its line; "" if there is none.
	moved string
}

// Lookup returns a Lookup.
func (l *List) Lookup() *Lookup {
	u := &Lookup{list: l, lines: map[string]int64{}}
	for i, line := range l.lines {
		digits, n, ok := labels.Integer(line)
		if !ok {
			continue
		}
		if u.lines[digits] = int64(i); n != int64(i) && u.moved == "" {
			u.moved = line
		}
	}
	return u
}

// ID returns the id of an integer with its digits: see NumberIDs.
func (u *Lookup) ID(digits string, id int64) (int64, error) {
	line, ok := u.lines[digits]
	switch n := len(u.list.lines); {
	case ok:
		return line, nil
	case id == labels.Unlabelled:
		return id, nil
	case u.moved != "":
		return 0, &IDError{digits, fmt.Sprintf("%s has no line for %q: as it has one for %q, numbers are names and not the ids of lines", u.list.from, digits, u.moved)}
	case id < 0 || id >= int64(n):
		return 0, &IDError{digits, fmt.Sprintf("%s names %s, with ids from 0, and a label is %d: a list for ids from 1 begins with a name for 0", u.list.from, plural.Of(n, "class"), id)}
	}
	return id, nil
}
