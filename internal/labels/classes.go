package labels

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/storage"
)

// Classes are the labels that a file lists, with their ids.
type Classes struct {
	// Names are the names by id.
	Names []string
	// Synsets are the labels that the names stand for, by id; nil if they are the names.
	Synsets []string
	// IDs are the ids by label.
	IDs map[string]int
}

// ReadClasses reads a file with a class on each line, in the order of the ids from 0: its name, or
// a label and its name, separated by a space or a tab, as in ImageNet's lists of synsets. A line is
// such a pair if it is not one of the labels as a whole, but its first word is; where one line is a
// pair, so are all with two words that are not a label.
//
// Names that several labels have are made different by adding the label. It is an error if a label
// is not in the file, or a class is there twice.
func ReadClasses(ctx context.Context, path string, labels []string) (*Classes, error) {
	data, err := storage.ReadFile(ctx, path, MaxFile)
	if err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	known := make(map[string]bool, len(labels))
	for _, label := range labels {
		known[label] = true
	}
	c := &Classes{Names: lines, IDs: make(map[string]int, len(lines))}
	for i := range lines {
		if lines[i] = strings.TrimSuffix(lines[i], "\r"); strings.TrimSpace(lines[i]) == "" {
			return nil, fmt.Errorf("%s: line %d is empty: want a class on each line", path, i+1)
		}
	}
	c.pair(known)
	of := c.Names
	if c.Synsets != nil {
		of = c.Synsets
	}
	for i, label := range of {
		if before, twice := c.IDs[label]; twice {
			return nil, fmt.Errorf("%s: line %d: the class %q is on line %d already", path, i+1, jsontext.Readable(label), before+1)
		}
		c.IDs[label] = i
	}
	if missing := c.missing(labels); len(missing) > 0 {
		return nil, fmt.Errorf("%s has no line for %s", path, plural.Quoted(missing, 5))
	}
	return c, nil
}

// pair separates the lines that are pairs.
func (c *Classes) pair(known map[string]bool) {
	synsets, names := slices.Clone(c.Names), slices.Clone(c.Names)
	pairs := false
	for i, line := range c.Names {
		if known[line] {
			continue
		}
		if label, name, ok := cutPair(line, known); ok {
			synsets[i], names[i] = label, name
			pairs = pairs || known[label]
		}
	}
	if !pairs {
		return
	}
	c.Names, c.Synsets = names, synsets
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	for i, name := range names {
		if count[name] > 1 && name != synsets[i] {
			names[i] = name + " " + synsets[i]
		}
	}
}

// cutPair cuts a line into a label and its name: at a tab, if there is one before which a label
// stands, or else at the first space or tab.
func cutPair(line string, known map[string]bool) (label, name string, ok bool) {
	label, name, ok = strings.Cut(line, "\t")
	if i := strings.IndexAny(line, " \t"); i >= 0 && !(ok && known[label]) {
		label, name, ok = line[:i], line[i+1:], true
	}
	name = strings.TrimSpace(name)
	return label, name, ok && label != "" && name != ""
}

// missing returns the labels that are not in the file, sorted.
func (c *Classes) missing(labels []string) []string {
	var missing []string
	for _, label := range labels {
		if _, ok := c.IDs[label]; !ok {
			missing = append(missing, jsontext.Readable(label))
		}
	}
	slices.Sort(missing)
	return missing
}
