package where

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/spelling"
	"github.com/tfrec/tfrec/tfrecord"
)

// Feature is a feature that an expression may name.
type Feature struct {
	Key string
	// Kind of the values. With KindNone, for features of unknown kind or whose kind differs from
	// record to record, an expression can only use has(key).
	Kind tfrecord.Kind
	// List means that a record may have any number of values, not just one.
	List bool
}

// names finds features by their names in an expression.
type names struct {
	features []Feature
	byKey    map[string]int
	byLast   map[string][]int // by the part after the last slash
}

func newNames(features []Feature) *names {
	n := &names{features: features, byKey: map[string]int{}, byLast: map[string][]int{}}
	for i, f := range features {
		n.byKey[f.Key] = i
		last := f.Key[strings.LastIndexByte(f.Key, '/')+1:]
		n.byLast[last] = append(n.byLast[last], i)
	}
	return n
}

// find returns the index of the feature in the list, or an error for an unknown or ambiguous name.
func (n *names) find(name string) (int, error) {
	if i, ok := n.byKey[name]; ok {
		return i, nil
	}
	switch found := n.byLast[name]; len(found) {
	case 0:
		return 0, fmt.Errorf("no feature %q%s", name, n.suggest(name))
	case 1:
		return found[0], nil
	default:
		return 0, fmt.Errorf("%q may be any of %s: write the whole key", name, n.quoted(found))
	}
}

// maxListed bounds the keys that an error lists.
const maxListed = 12

// suggest lists names that are like name, else the first ones.
func (n *names) suggest(name string) string {
	var near, all []int
	for i, f := range n.features {
		all = append(all, i)
		last := f.Key[strings.LastIndexByte(f.Key, '/')+1:]
		if spelling.Distance(name, last) <= 2 || spelling.Distance(name, f.Key) <= 2 {
			near = append(near, i)
		}
	}
	switch {
	case len(all) == 0:
		return "; the records have no features"
	case len(near) > 0:
		return "; did you mean " + n.quoted(near) + "?"
	}
	return "; there are " + n.quoted(all)
}

// quoted lists keys as an expression can name them.
func (n *names) quoted(features []int) string {
	keys := make([]string, 0, len(features))
	for _, i := range features {
		keys = append(keys, written(n.features[i].Key))
	}
	slices.Sort(keys)
	more := ""
	if len(keys) > maxListed {
		more = fmt.Sprintf(" and %d more", len(keys)-maxListed)
		keys = keys[:maxListed]
	}
	return strings.Join(keys, ", ") + more
}

// written is a key as it can be written in an expression: bare, when it reads
// as a name.
func written(key string) string {
	for i, r := range key {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return fmt.Sprintf("%s[%q]", index, key)
		}
	}
	return key
}
