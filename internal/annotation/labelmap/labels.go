package labelmap

import "github.com/tfrec/tfrec/internal/annotation"

// Classes returns the classes of a list of labels, in which the id of a label is its index and ids
// without a class have the label "".
func Classes(labels []string) []annotation.Class {
	var classes []annotation.Class
	for id, name := range labels {
		if name != "" {
			classes = append(classes, annotation.Class{ID: int64(id), Name: name})
		}
	}
	return classes
}

// Labels returns the list that Classes makes these names of; nil if an id is negative, or limit or
// more.
func Labels(names map[int64]string, limit int) []string {
	n := int64(0)
	for id := range names {
		if id < 0 || id >= int64(limit) {
			return nil
		}
		n = max(n, id+1)
	}
	labels := make([]string, n)
	for id, name := range names {
		labels[id] = name
	}
	return labels
}

// Equal reports whether a list of labels has exactly these names.
func Equal(names map[int64]string, labels []string) bool {
	classes := Classes(labels)
	for _, c := range classes {
		if name, ok := names[c.ID]; !ok || name != c.Name {
			return false
		}
	}
	return len(classes) == len(names)
}
