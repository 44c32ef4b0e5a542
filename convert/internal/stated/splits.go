package stated

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/shares"
	"github.com/tfrec/tfrec/shard"
)

// SplitsOfFiles returns the split of each of several files of images by its name or, if they are in
// several directories, by its directory, as shares.SplitsOf does; nil if not all have one. It is an
// error if some are of val or test, and others have none.
func SplitsOfFiles(paths []string) ([]string, error) {
	splits := shares.SplitsOf(paths)
	known := slices.ContainsFunc(splits, func(split string) bool { return split != "" })
	held, bare := -1, -1 // the last file of val or test, and the last without a split
	for i, file := range paths {
		switch splits[i] = cmp.Or(imagetree.Split(splits[i]), splits[i]); splits[i] {
		case "":
			if splits[i] = exported(path.Base(filepath.ToSlash(file))); splits[i] == "" {
				bare = i
			}
		case "train":
		default:
			held = i
		}
	}
	switch {
	case known && bare < 0:
		return splits, nil
	case held >= 0:
		return nil, fmt.Errorf("%s is of the split %s by its name, and the name of %s states none: rename one, convert them one by one, or give %s",
			paths[held], splits[held], paths[bare], optname.OptionsSplits)
	}
	return nil, nil
}

// NoteExported notes that the names of several files, none of which is taken for a split, may state
// splits.
func NoteExported(o *options.ImageOptions, paths []string) {
	var splits []string
	for _, file := range paths {
		split := exported(path.Base(filepath.ToSlash(file)))
		if split == "" {
			return
		}
		splits = append(splits, split)
	}
	if splits = slices.Compact(slices.Sorted(slices.Values(splits))); len(splits) > 1 {
		o.Notef("the names of files state no split: if %s are splits, convert the files of each by themselves, with %s %s=1 and so on, and merge the sets",
			plural.Quoted(splits, 3), optname.OptionsSplits, splits[0])
	}
}

// splitFile matches the name of one of the files of a split as export writes it: train-000000.tar, or
// train-00000-of-00004.parquet, which may have a hash after it.
var splitFile = regexp.MustCompile(`^(.+?)-\d{5,}(?:-of-\d{5,}(?:-[0-9a-f]+)?)?\.`)

// exported returns the split in the name of an exported file, if it is of no name that
// shares.SplitOf knows; "" for others.
func exported(base string) string {
	m := splitFile.FindStringSubmatch(base)
	if m == nil || shard.CheckSplit(m[1]) != nil {
		return ""
	}
	return m[1]
}

// SplitColumn is a column of a table with the split of each image. The zero value is none.
type SplitColumn struct {
	Name   string
	splits map[string]*string // found in it, by the names that they have in the set
}

// Of returns the split that a cell names; nil if it names none, as a missing value.
func (c *SplitColumn) Of(cell string) *string {
	if csvscan.IsMissing(cell) {
		return nil
	}
	name := cmp.Or(imagetree.Split(cell), cell)
	if s := c.splits[name]; s != nil || !naming.IsSplit(name) {
		return s
	}
	if c.splits == nil {
		c.splits = map[string]*string{}
	}
	c.splits[name] = &name
	return &name
}

// Fault describes a cell that names no split.
func (c *SplitColumn) Fault(cell string) string {
	return fmt.Sprintf("column %q: %q is not the name of a split", c.Name, cell)
}

// Splits returns the splits of the column, sorted, if LabelSpec.SplitColumn names it or one of them is
// train, val or test; nil otherwise. Source is the table, for notes.
func (c *SplitColumn) Splits(o *options.ImageOptions, source string) ([]string, error) {
	names := slices.Sorted(maps.Keys(c.splits))
	switch given := o.Labels.SplitColumn != ""; {
	case c.Name == "":
		return nil, nil
	case given && len(names) == 0:
		return nil, plan.OptionErrorf(optname.LabelSpecSplitColumn, "no cell of column %q is the name of a split: want letters, digits and _", c.Name)
	case given, slices.ContainsFunc(names, func(name string) bool { return imagetree.Split(name) != "" }):
		return names, nil
	}
	o.Notef("%s: column %q is not used: none of its values, such as %s, is train, val or test (%s takes them as splits)",
		source, c.Name, plural.Quoted(names, 3), optname.LabelSpecSplitColumn)
	return nil, nil
}
