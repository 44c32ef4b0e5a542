// Package featurename finds features by what people call them: by their keys, or by what follows the last
// slash of one.
package featurename

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/spelling"
)

// Find returns the key that a name means: the key itself or, if it is unique, the key that ends in the
// name after a slash, as label is short for image/class/label. The error names keys that are meant.
func Find(name string, keys []string) (string, error) {
	switch found := Named(name, keys); len(found) {
	case 0:
		near := Near(name, keys)
		if len(near) > 0 {
			return "", fmt.Errorf("no feature %q; did you mean %s?", name, plural.Quoted(pick(keys, near), mostListed))
		}
		return "", fmt.Errorf("no feature %q; there are %s", name, plural.Quoted(keys, mostListed))
	case 1:
		return keys[found[0]], nil
	default:
		return "", fmt.Errorf("%q may be any of %s: write the whole key", name, plural.Quoted(pick(keys, found), mostListed))
	}
}

// mostListed is the maximum number of keys that an error lists.
const mostListed = 20

// Named returns the indexes of the keys that a name may mean: the key itself alone, or all that end in
// it after a slash.
func Named(name string, keys []string) (found []int) {
	if i := slices.Index(keys, name); i >= 0 {
		return []int{i}
	}
	for i, key := range keys {
		if last(key) == name {
			found = append(found, i)
		}
	}
	return found
}

// Near returns the indexes of the keys that are spelled like a name, whole or after their last slash.
func Near(name string, keys []string) (near []int) {
	for i, key := range keys {
		if spelling.Distance(name, last(key)) <= 2 || spelling.Distance(name, key) <= 2 {
			near = append(near, i)
		}
	}
	return near
}

// last is what follows the last slash of a key.
func last(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

func pick(keys []string, indexes []int) []string {
	picked := make([]string, len(indexes))
	for k, i := range indexes {
		picked[k] = keys[i]
	}
	return picked
}
