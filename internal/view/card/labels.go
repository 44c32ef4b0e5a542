package card

import (
	"maps"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/jsontext"
)

// label is a label with the number of its records in each split.
type label struct {
	id     int // -1 if the manifest has no name for it
	name   string
	counts []int64
}

// labels returns the labels of the set: those with a name by id, then others that records have.
func (c *Card) labels() []label {
	m := c.Manifest
	counts := map[string][]int64{}
	for i, s := range m.Splits {
		for _, info := range s.Shards {
			for name, n := range info.Labels {
				if counts[name] == nil {
					counts[name] = make([]int64, len(m.Splits))
				}
				counts[name][i] += n
			}
		}
	}
	var all []label
	for id, name := range m.Labels {
		if name != "" {
			all = append(all, label{id, name, counts[name]})
			delete(counts, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, label{-1, name, counts[name]})
	}
	return all
}

// counted reports whether the shards count the records of labels.
func counted(labels []label) bool {
	return slices.ContainsFunc(labels, func(l label) bool { return l.counts != nil })
}

// classNames returns the names of all ids from 0, distinct and not empty; nil if there are none, or
// more than limit.
func (c *Card) classNames(limit int) []string {
	labels := c.Manifest.Labels
	if len(labels) == 0 || len(labels) > limit {
		return nil
	}
	names := make([]string, len(labels))
	seen := make(map[string]bool, len(labels))
	for id, name := range labels {
		if name = jsontext.Readable(name); name == "" {
			name = strconv.Itoa(id)
		}
		if seen[name] {
			return nil
		}
		names[id], seen[name] = name, true
	}
	return names
}
