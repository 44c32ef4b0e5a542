package imagetable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
)

// The names of columns, in any case, that are looked for when Options names none.
// Earlier ones take precedence.
var (
	pathNames  = []string{"path", "file", "filename", "file_name", "image", "image_path", "id"}
	labelNames = []string{"label", "class", "target", "category", "tags"}
)

// findColumns finds the columns that the header names. The header is a row like all
// others if it names none, unless it is certain, as in typed tables.
func (t *Table) findColumns(certain bool) error {
	path, err := t.given("path", t.o.PathColumn)
	if err != nil {
		return err
	}
	label, err := t.given("label", t.o.LabelColumn)
	if err != nil {
		return err
	}
	given := path >= 0 || label >= 0
	if path < 0 {
		path = t.guess(pathNames, label)
	}
	if label < 0 && !t.o.NoLabels {
		label = t.guess(labelNames, path)
	}
	switch {
	case path >= 0 && path == label:
		return fmt.Errorf("column %q can't hold paths and labels", t.header[path])
	case path >= 0 && (label >= 0 || t.o.NoLabels):
		t.path, t.label = path, label
		if err := t.findFeatures(); err != nil {
			return err
		}
		return t.repeated()
	case !certain && !given && (path < 0 && label < 0 || t.o.IsImage != nil && t.o.IsImage(t.withSuffix(t.header[0]))):
		return t.withoutHeader()
	case path < 0:
		return t.unknown("path", "LabelSpec.PathColumn", pathNames)
	}
	return t.unknown("label", "LabelSpec.Column", labelNames)
}

// withoutHeader uses the first two columns.
func (t *Table) withoutHeader() error {
	if len(t.o.Features) > 0 {
		return fmt.Errorf("no header names the column %q: want a first row with the names of all columns, such as path and label", t.o.Features[0].Name)
	}
	t.header, t.path, t.label = nil, 0, 1
	if t.o.NoLabels {
		t.label = -1
	} else if t.fields < 2 {
		return errors.New("one column only: want a path and a label in each row")
	}
	return nil
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
	is := func(other string) bool { return strings.EqualFold(strings.TrimSpace(name), strings.TrimSpace(other)) }
	return is(t.o.PathColumn) || is(t.o.LabelColumn) || slices.ContainsFunc(pathNames, is) || slices.ContainsFunc(labelNames, is) ||
		slices.ContainsFunc(t.o.Features, func(f Feature) bool { return is(f.Name) })
}

// unknown is the error for a column that an option may name.
func (t *Table) unknown(what, option string, guesses []string) error {
	return fmt.Errorf("which column holds the %s? %s names it; none is called %s; the columns are %s",
		what, option, strings.Join(guesses, ", "), Quote(t.header))
}

// LabelColumn returns which of some columns holds labels: that of the name or, without one, the
// first that Options.LabelColumn finds.
func LabelColumn(columns []string, name string) (int, error) {
	t := &Table{header: columns}
	i, err := t.given("label", name)
	if err == nil && i < 0 {
		if i = t.guess(labelNames, -1); i < 0 {
			err = t.unknown("label", "LabelSpec.Column", labelNames)
		}
	}
	return i, err
}

// Quote lists names of columns, the first twenty of them.
func Quote(names []string) string { return plural.Quoted(names, 20) }

// Columns returns the names of the columns of paths and labels, and of those that
// are not used. The first two are empty for a table without a header, and label if it is
// not read.
func (t *Table) Columns() (path, label string, ignored []string) {
	for i := range t.fields {
		switch {
		case i == t.path || i == t.label || slices.Contains(t.features, i):
		case t.header == nil:
			ignored = append(ignored, fmt.Sprintf("column %d", i+1))
		default:
			ignored = append(ignored, t.header[i])
		}
	}
	if t.header == nil {
		return "", "", ignored
	}
	if t.label >= 0 {
		label = t.header[t.label]
	}
	return t.header[t.path], label, ignored
}
