package imagetable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// The names of columns, in any case, that are looked for when Options names none.
// Earlier ones take precedence.
var (
	pathNames  = []string{"path", "file", "filename", "file_name", "image", "image_path", "id"}
	labelNames = []string{"label", "class", "target", "category", "tags"}
	// textNames are those of columns that describe an image in words, which are no labels.
	textNames  = []string{"caption", "captions", "text", "description", "prompt", "title", "sentence", "comment"}
	splitNames = []string{"split", "subset", "partition"}
)

// findColumns finds the columns, by their names and by the cells in some rows. The first row may be
// a row like all others, unless it is certain to be a header, as in typed tables.
func (t *Table) findColumns(certain bool, rows [][]string) error {
	path, err := t.given("path", t.o.PathColumn)
	if err != nil {
		return err
	}
	label, err := t.given("label", t.o.LabelColumn)
	if err != nil {
		return err
	}
	split, err := t.given("split", t.o.SplitColumn)
	if err != nil {
		return err
	}
	certain = certain || path >= 0 || label >= 0 || split >= 0
	if path < 0 {
		path = t.guess(pathNames, label)
	}
	if label < 0 && !t.o.NoLabels {
		label = t.guess(labelNames, path)
	}
	switch t.splits = nil; {
	case split >= 0:
		t.splits = []int{split}
	case !t.o.NoSplits:
		t.splits = t.guessSplits(path, label)
	}
	known := path >= 0 || label >= 0 || slices.ContainsFunc(t.header, t.isFeature)
	switch {
	case certain, path >= 0 && (label >= 0 || t.o.NoLabels):
	case slices.ContainsFunc(t.header, t.o.isPath):
		return t.withoutHeader(rows)
	case known:
	case t.isHeader(rows):
		t.found = FoundHeader
	default:
		return t.withoutHeader(rows)
	}
	if path == label && path >= 0 {
		return fmt.Errorf("column %q can't hold paths and labels", t.header[path])
	}
	if path < 0 {
		if path = t.pathColumn(rows, label); path < 0 {
			return t.unknown("path", optname.LabelSpecPathColumn, pathNames, path)
		}
	}
	if label < 0 && !t.o.NoLabels {
		if label = t.onlyOther(path, slices.Concat(pathNames, textNames)); label < 0 {
			return t.unknown("label", optname.LabelSpecColumn, labelNames, path)
		}
	}
	t.path, t.label = path, label
	if err := t.findFeatures(); err != nil {
		return err
	}
	return t.repeated()
}

// withoutHeader uses the column with paths, by default the first one, and the first other one.
func (t *Table) withoutHeader(rows [][]string) error {
	if len(t.o.Features) > 0 {
		return fmt.Errorf("no header names the column %q: want a first row with the names of all columns, such as path and label", t.o.Features[0].Name)
	}
	rows = append(rows, t.header)
	t.header, t.path, t.label, t.splits, t.found = nil, max(t.columnOf(rows, -1), 0), -1, nil, NoHeader
	switch {
	case t.o.NoLabels:
	case t.fields < 2:
		return errors.New("one column only: want a path and a label in each row")
	case t.path == 0:
		t.label = 1
	default:
		t.label = 0
	}
	return nil
}

// pathColumn returns the column of paths under a header that does not name it: the one whose cells
// are paths of images, or the only one other than the labels; -1 if there is none.
func (t *Table) pathColumn(rows [][]string, label int) int {
	if c := t.columnOf(rows, label); c >= 0 {
		return c
	}
	if label < 0 && t.found == FoundHeader && t.fields == 2 {
		return 0
	}
	return t.onlyOther(label, labelNames)
}

// onlyOther returns the only column other than the given one, features, and columns without a name,
// such as the index of pandas; -1 if there is none or its name is one of not. In typed tables
// columns have names that are known or given.
func (t *Table) onlyOther(column int, not []string) int {
	if _, typed := t.src.(*typedTable); typed {
		return -1
	}
	other := -1
	for i, name := range t.header {
		switch {
		case i == column, slices.Contains(t.splits, i), t.isFeature(name), strings.TrimSpace(name) == "", strings.HasPrefix(name, "Unnamed: "):
		case column < 0, other >= 0, isOneOf(name, not):
			return -1
		default:
			other = i
		}
	}
	return other
}

// Splits returns the names of the columns of splits: none if they are not read.
func (t *Table) Splits() (names []string) {
	for _, i := range t.splits {
		names = append(names, t.header[i])
	}
	return names
}

// repeated returns an error for columns of one name: which of them is meant is not known.
func (t *Table) repeated() error {
	seen := make(map[string]bool, len(t.header))
	var names []string
	for _, name := range t.header {
		name = strings.TrimSpace(name)
		if seen[name] && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		seen[name] = true
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("several columns are called %s: give each a name of its own", Quote(names))
}

// findFeatures finds the columns of the features, by their exact names.
func (t *Table) findFeatures() error {
	t.features = t.features[:0]
	for _, f := range t.o.Features {
		column := slices.IndexFunc(t.header, func(name string) bool { return strings.TrimSpace(name) == strings.TrimSpace(f.Name) })
		if column < 0 {
			return fmt.Errorf("there is no column %q; the columns are %s", f.Name, Quote(t.header))
		}
		t.features = append(t.features, column)
	}
	return nil
}

// given returns the column of a name, and -1 for no name.
func (t *Table) given(what, name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	i := t.find(name)
	if i < 0 {
		return 0, fmt.Errorf("there is no %s column %q; the columns are %s", what, name, Quote(t.header))
	}
	return i, nil
}

// guess returns the first column of the names, other than one that is taken; -1 if
// there is none.
func (t *Table) guess(names []string, taken int) int {
	for _, name := range names {
		if i := t.find(name); i >= 0 && i != taken {
			return i
		}
	}
	return -1
}

func (t *Table) find(name string) int {
	return slices.IndexFunc(t.header, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), strings.TrimSpace(name)) })
}

// wanted reports whether a column of this name may be used.
func (t *Table) wanted(name string) bool {
	given := []string{t.o.PathColumn, t.o.LabelColumn}
	return isOneOf(name, given) || !t.o.NoSplits && (isOneOf(name, splitNames) || isOneOf(name, []string{t.o.SplitColumn})) || isOneOf(name, pathNames) || isOneOf(name, labelNames) || t.isFeature(name)
}

// isOneOf reports whether a name is among others, in any case.
func isOneOf(name string, names []string) bool {
	return slices.ContainsFunc(names, func(other string) bool {
		return strings.EqualFold(strings.TrimSpace(name), strings.TrimSpace(other))
	})
}

// isFeature reports whether a column of this name is one of the features.
func (t *Table) isFeature(name string) bool {
	return slices.ContainsFunc(t.o.Features, func(f Feature) bool { return isOneOf(name, []string{f.Name}) })
}

// ColumnError means that a table has no column of paths, or none of labels, that its name shows.
type ColumnError struct {
	What    string   // "path" or "label"
	Path    string   // the column of paths; "" if it is unknown
	Columns []string // all
	option  optname.Name
	guesses []string
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("which column holds the %s? %s names it; none is called %s; the columns are %s",
		e.What, e.option, strings.Join(e.guesses, ", "), Quote(e.Columns))
}

// unknown is the error for a column that an option may name.
func (t *Table) unknown(what string, option optname.Name, guesses []string, path int) error {
	e := &ColumnError{What: what, Columns: t.header, option: option, guesses: guesses}
	if path >= 0 {
		e.Path = t.header[path]
	}
	return e
}

// LabelColumn returns the index of the column of labels: the one with the given name or, without a
// name, the first that Options.LabelColumn finds.
func LabelColumn(columns []string, name string) (int, error) {
	t := &Table{header: columns}
	i, err := t.given("label", name)
	if err == nil && i < 0 {
		if i = t.guess(labelNames, -1); i < 0 {
			err = t.unknown("label", optname.LabelSpecColumn, labelNames, -1)
		}
	}
	return i, err
}

// SplitColumns returns the indexes of the columns of splits: the one with the given name or,
// without a name, all that Options.SplitColumn finds.
func SplitColumns(columns []string, name string) ([]int, error) {
	t := &Table{header: columns}
	i, err := t.given("split", name)
	if err != nil || i >= 0 {
		return []int{i}, err
	}
	return t.guessSplits(-1, -1), nil
}

// guessSplits returns the columns of splits by their names, without the columns of paths and
// labels.
func (t *Table) guessSplits(path, label int) (columns []int) {
	for _, name := range splitNames {
		if i := t.find(name); i >= 0 && i != path && i != label {
			columns = append(columns, i)
		}
	}
	return columns
}

// Quote lists names of columns, the first twenty of them.
func Quote(names []string) string { return plural.Quoted(names, 20) }

// Columns returns the names of the columns of paths and labels, and of those that are not used:
// "column 1" and so on without a header. The label is "" if it is not read.
func (t *Table) Columns() (path, label string, ignored []string) {
	name := func(i int) string {
		if t.header == nil {
			return fmt.Sprintf("column %d", i+1)
		}
		return t.header[i]
	}
	for i := range t.fields {
		if i != t.path && i != t.label && !slices.Contains(t.splits, i) && !slices.Contains(t.features, i) {
			ignored = append(ignored, name(i))
		}
	}
	if t.label >= 0 {
		label = name(t.label)
	}
	return name(t.path), label, ignored
}
