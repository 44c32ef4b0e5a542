package where

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/featurename"
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
	keys     []string
}

func newNames(of []Feature) *names {
	n := &names{features: of}
	for _, f := range of {
		n.keys = append(n.keys, f.Key)
	}
	return n
}

// find returns the index of the feature in the list, or an error for an unknown or ambiguous name.
func (n *names) find(name string) (int, error) {
	switch found := featurename.Named(name, n.keys); len(found) {
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
	near := featurename.Near(name, n.keys)
	switch {
	case len(n.keys) == 0:
		return "; the records have no features"
	case len(near) > 0:
		return "; did you mean " + n.quoted(near) + "?"
	}
	all := make([]int, len(n.keys))
	for i := range all {
		all[i] = i
	}
	return "; there are " + n.quoted(all)
}

// quoted lists keys as an expression can name them.
func (n *names) quoted(indexes []int) string {
	keys := make([]string, 0, len(indexes))
	for _, i := range indexes {
		keys = append(keys, written(n.keys[i]))
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
