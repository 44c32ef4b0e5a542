package walk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/imagetable"
)

// The members of a column of images that is a struct, as package datasets of Hugging Face has it.
const (
	bytesMember = "/bytes"
	pathMember  = "/path"
	imageColumn = "image" // the column of images among several
)

// addColumns finds the columns of a file, which all files have, and merges their kinds.
func (a *rowWalker) addColumns(found []table.Column) error {
	if a.use.image == "" {
		if err := a.chooseColumns(found); err != nil {
			return err
		}
	}
	names := []string{a.use.image}
	for _, name := range append([]string{a.use.path, a.use.Label}, a.use.splits...) {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, f := range a.o.Features {
		names = append(names, f.Name)
	}
	known := a.columns != nil
	for _, column := range found {
		if !known && !slices.Contains(names, column.Name) && !strings.HasPrefix(column.Name, a.use.Key+"/") {
			a.unused = append(a.unused, column.Name)
		}
	}
	for i, name := range names {
		at := slices.IndexFunc(found, func(c table.Column) bool { return c.Name == name })
		switch {
		case at < 0:
			return fmt.Errorf("there is no column %q; the columns are %s", name, quoteColumns(found))
		case found[at].Unfit != "":
			return fmt.Errorf("column %q: %s", name, found[at].Unfit)
		case !known:
			a.columns = append(a.columns, found[at])
		default:
			was := a.columns[i].Kind
			if err := tablefile.MergeColumn(&a.columns[i], &found[at]); err != nil {
				return fmt.Errorf("column %q is %s, and %s in the files before", name, found[at].Kind, was)
			}
		}
	}
	return a.checkColumns()
}

// chooseColumns chooses the columns of images, paths and labels.
func (a *rowWalker) chooseColumns(found []table.Column) (err error) {
	has := func(name string) bool {
		return slices.ContainsFunc(found, func(c table.Column) bool { return c.Name == name && c.Kind == table.Bytes && !c.List })
	}
	key := a.o.ImageKey
	if key == "" {
		if key, err = guessImages(found, has); err != nil {
			return err
		}
	}
	switch {
	case has(key + bytesMember):
		a.use.image = key + bytesMember
		if has(key + pathMember) {
			a.use.path = key + pathMember
		}
	case has(key):
		a.use.image = key
	default:
		return fmt.Errorf("%s: %q is not a column of bytes, or of structs of bytes and path; the columns are %s", optname.ImageOptionsImageKey, key, quoteColumns(found))
	}
	a.use.Key = key
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = c.Name
	}
	if len(a.o.Splits) == 0 {
		columns, err := imagetable.SplitColumns(names, a.o.Labels.SplitColumn)
		if err != nil {
			return err
		}
		for _, i := range columns {
			if a.o.Labels.SplitColumn != "" || found[i].Unfit == "" && !found[i].List && found[i].Kind != table.Float && names[i] != a.o.Labels.Column {
				a.use.splits = append(a.use.splits, names[i])
			}
		}
		a.splits.Names = a.use.splits
	}
	if a.o.Labels.None {
		return nil
	}
	i, err := imagetable.LabelColumn(names, a.o.Labels.Column)
	if err != nil {
		return fmt.Errorf("%w; %s stores no labels", err, optname.LabelSpecNone)
	}
	a.use.Label = names[i]
	return nil
}

// guessImages returns the column that is a struct of bytes and path: the one called image if there
// are several.
func guessImages(found []table.Column, has func(name string) bool) (string, error) {
	var structs []string
	for _, c := range found {
		if name, ok := strings.CutSuffix(c.Name, bytesMember); ok && has(c.Name) && has(name+pathMember) {
			structs = append(structs, name)
		}
	}
	switch {
	case slices.Contains(structs, imageColumn):
		return imageColumn, nil
	case len(structs) == 1:
		return structs[0], nil
	}
	return "", fmt.Errorf("which column has the images? %s names it; the columns are %s", optname.ImageOptionsImageKey, quoteColumns(found))
}

// checkColumns returns an error for labels that are lists.
func (a *rowWalker) checkColumns() error {
	if a.use.Label == "" {
		return nil
	}
	label := a.columns[1]
	if a.use.path != "" {
		label = a.columns[2]
	}
	if label.List {
		return fmt.Errorf("column %q cannot hold labels: its values are lists; %s stores no labels", label.Name, optname.LabelSpecNone)
	}
	return nil
}

// quoteColumns lists the names of columns.
func quoteColumns(columns []table.Column) string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return imagetable.Quote(names)
}
