package classfile

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// List is a list of classes.
type List struct {
	from  string   // for errors: the path
	lines []string // nil for a label map
	// byID are the names by id of a label map, or of lines that all begin with another integer.
	byID map[int64]string
	// dense means that the integers of lines are 0 to N-1, or 1 to N.
	dense bool
}

// Classes are labels with their ids.
type Classes struct {
	// Names are the names by id.
	Names []string
	// Synsets are the labels of the names, by id; nil if the labels are the names.
	Synsets []string
	// IDs are the ids of the labels, in their order.
	IDs []int64
}

// labelMap matches the first item of a label map, after comments.
var labelMap = regexp.MustCompile(`\A\s*(?:#[^\n]*\n\s*)*item\s*[:{<]`)

// Read reads a file of up to labels.MaxFile bytes. A label map is known by its content, or by the
// extension .pbtxt.
func Read(ctx context.Context, file string) (*List, error) {
	data, err := storage.ReadFile(ctx, file, labels.MaxFile)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if path.Ext(storage.Base(file)) == ".pbtxt" || labelMap.Match(data) {
		return readLabelMap(file, data)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\r\n"), "\n")
	for i := range lines {
		if lines[i] = strings.TrimSuffix(lines[i], "\r"); strings.TrimSpace(lines[i]) == "" {
			return nil, fmt.Errorf("%s: line %d is empty: want a class on each line", file, i+1)
		}
	}
	return newList(file, lines), nil
}

// Of returns a list of names in the order of their ids from 0. Errors use from as its name.
func Of(names []string, from string) *List { return newList(from, names) }

func readLabelMap(file string, data []byte) (*List, error) {
	classes, err := labelmap.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	l := &List{from: file, byID: make(map[int64]string, len(classes))}
	for _, c := range classes {
		if c.ID < 0 || c.ID > labels.MaxID {
			return nil, fmt.Errorf("%s: the id of %q is %d: want 0 to %d", file, jsontext.Readable(c.Name), c.ID, labels.MaxID)
		}
		l.byID[c.ID] = c.Name
	}
	if len(classes) == 0 {
		return nil, fmt.Errorf("%s: it has no classes", file)
	}
	return l, nil
}

// numbered matches a line with the id: "3 roses" or "3:roses".
var numbered = regexp.MustCompile(`^(\d+)[:\t ]\s*(\S.*)$`)

func newList(from string, lines []string) *List {
	l := &List{from: from, lines: lines}
	byID, first, last := make(map[int64]string, len(lines)), int64(labels.MaxID), int64(0)
	for _, line := range lines {
		m := numbered.FindStringSubmatch(line)
		if m == nil {
			return l
		}
		id, err := strconv.ParseInt(m[1], 10, 64)
		if _, twice := byID[id]; twice || err != nil || id > labels.MaxID {
			return l
		}
		byID[id], first, last = strings.TrimRight(m[2], " \t"), min(first, id), max(last, id)
	}
	l.byID, l.dense = byID, first <= 1 && last-first == int64(len(lines))-1 // all are different
	return l
}

// Names are the names by id: of lines, the lines.
func (l *List) Names() []string {
	if l.lines != nil {
		return l.lines
	}
	return labels.Fill(l.byID)
}

// Numbered are the names by id, too. Lines that begin with the ids from 0, in any order, have
// those.
func (l *List) Numbered() []string {
	if _, zero := l.byID[0]; zero && l.dense {
		return labels.Fill(l.byID)
	}
	return l.Names()
}

// Classes returns the classes in the form that annotations have. The first line has id 1. stated
// reports whether the list has the ids, as a label map does.
func (l *List) Classes() (classes []annotation.Class, stated bool) {
	if l.lines != nil {
		return annotation.ClassesOf(l.lines), false
	}
	for _, id := range slices.Sorted(maps.Keys(l.byID)) {
		classes = append(classes, annotation.Class{ID: id, Name: l.byID[id]})
	}
	return classes, true
}

// Number returns the ids of labels that are names. A line is a pair if it is not one of the labels
// as a whole, but its first word is; where one line is a pair, so are all with two words that are
// not a label. Names that several labels have are made different by adding the label.
//
// With integers, labels may also be ids: a label that is an integer and no name is the id, as NumberIDs
// has it.
//
// It is an error if a label is not in the list, or a class is there twice.
func (l *List) Number(of []string, integers bool) (*Classes, error) {
	known := make(map[string]bool, len(of))
	for _, label := range of {
		known[label] = true
	}
	if l.byID != nil && (l.lines == nil || l.numbers(known) || integers && l.isNamed(known)) {
		return l.numberByID(of, integers)
	}
	c := l.pair(known)
	names, what := c.Names, c.Names
	if c.Synsets != nil {
		what = c.Synsets
	}
	ids := make(map[string]int64, len(names))
	for i, label := range what {
		if before, twice := ids[label]; twice {
			return nil, fmt.Errorf("%s: line %d: the class %q is on line %d already", l.from, i+1, jsontext.Readable(label), before+1)
		}
		ids[label] = int64(i)
	}
	if !integers {
		return c, l.assign(c, of, ids, nil)
	}
	lookup := l.Lookup()
	return c, l.assign(c, of, ids, func(digits string, id int64) (int64, error) {
		if c.Synsets != nil && id == labels.Unlabelled {
			return 0, l.noID(digits) // every record has a synset
		}
		return lookup.ID(digits, id)
	})
}

// isNamed reports whether a label is one of the names that the list states ids of.
func (l *List) isNamed(known map[string]bool) bool {
	for _, name := range l.byID {
		if known[name] {
			return true
		}
	}
	return false
}

// numbers reports whether the integers that lines begin with are ids: neither they nor the lines
// are labels.
func (l *List) numbers(known map[string]bool) bool {
	return !slices.ContainsFunc(l.lines, func(line string) bool {
		return known[line] || known[numbered.FindStringSubmatch(line)[1]]
	})
}

// numberByID is Number for a list that states ids.
func (l *List) numberByID(of []string, integers bool) (*Classes, error) {
	ids := make(map[string]int64, len(l.byID))
	for _, id := range slices.Sorted(maps.Keys(l.byID)) {
		name := l.byID[id]
		if before, twice := ids[name]; twice {
			return nil, fmt.Errorf("%s: the class %q has the ids %d and %d", l.from, jsontext.Readable(name), before, id)
		}
		ids[name] = id
	}
	c := &Classes{Names: labels.Fill(l.byID)}
	if !integers {
		return c, l.assign(c, of, ids, nil)
	}
	return c, l.assign(c, of, ids, func(digits string, id int64) (int64, error) {
		if _, ok := l.byID[id]; !ok && id != labels.Unlabelled {
			return 0, l.noID(digits)
		}
		return id, nil
	})
}

// noID is the error for an integer that is the id of no class.
func (l *List) noID(digits string) error {
	return &IDError{digits, fmt.Sprintf("%s has no class with the id %s", l.from, digits)}
}

// assign fills in the ids of the labels of, given the ids of names. integer returns the id of a
// label that is an integer but not a name; nil if integers are not ids.
func (l *List) assign(c *Classes, of []string, ids map[string]int64, integer func(digits string, id int64) (int64, error)) error {
	var missing []string
	var unknown error // of the first integer
	c.IDs = make([]int64, len(of))
	for i, label := range of {
		id, ok := ids[label]
		if digits, n, is := labels.Integer(label); !ok && is && integer != nil {
			var err error
			if id, err = integer(digits, n); err != nil && unknown == nil {
				unknown = err
			}
			ok = true
		}
		if c.IDs[i] = id; !ok {
			missing = append(missing, jsontext.Readable(label))
		}
	}
	if len(missing) == 0 {
		return unknown
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	return fmt.Errorf("%s has no line for %s", l.from, plural.Quoted(missing, 5))
}

// pair separates the lines that are pairs.
func (l *List) pair(known map[string]bool) *Classes {
	synsets, names := slices.Clone(l.lines), slices.Clone(l.lines)
	pairs := false
	for i, line := range l.lines {
		if known[line] {
			continue
		}
		if label, name, ok := cutPair(line, known); ok {
			synsets[i], names[i] = label, name
			pairs = pairs || known[label]
		}
	}
	if !pairs {
		return &Classes{Names: l.lines}
	}
	differ(names, synsets)
	return &Classes{Names: names, Synsets: synsets}
}

// differ adds their labels to names that are the same.
func differ(names, labels []string) {
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	for i, name := range names {
		if count[name] > 1 && name != labels[i] {
			names[i] = name + " " + labels[i]
		}
	}
}

// cutPair cuts a line into a label and its name: at a tab, if there is one after a known label, or
// else at the first space or tab.
func cutPair(line string, known map[string]bool) (label, name string, ok bool) {
	label, name, ok = strings.Cut(line, "\t")
	if i := strings.IndexAny(line, " \t"); i >= 0 && !(ok && known[label]) {
		label, name, ok = line[:i], line[i+1:], true
	}
	name = strings.TrimSpace(name)
	return label, name, ok && label != "" && name != ""
}
