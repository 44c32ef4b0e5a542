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
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/table/csvscan"
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

// SplitColumns are the columns of a table with the split of each image, which agree. The zero value has
// none.
type SplitColumns struct {
	Names  []string
	splits map[string]*string // found in them, by the names that they have in the set

	stating  []bool // by column: train, val or test is in it
	disagree string // two columns with different splits of an image, the first of them
	mixed    string // the same, where one of the splits is not train, val or test
}

// Of returns the split that the cells of an image name: the first that is train, val or test, or else
// the first; nil if none does, as missing values do not.
func (c *SplitColumns) Of(image string, cells []string) *string {
	if c.splits == nil {
		c.splits, c.stating = map[string]*string{}, make([]bool, len(c.Names))
	}
	names, best := make([]string, len(cells)), -1
	for i, cell := range cells {
		if names[i] = cmp.Or(imagetree.Split(cell), cell); csvscan.IsMissing(cell) || !naming.IsSplit(names[i]) {
			names[i] = ""
			continue
		}
		known := imagetree.Split(cell) != ""
		c.stating[i] = c.stating[i] || known
		if best < 0 || known && imagetree.Split(names[best]) == "" {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	for i, name := range names {
		if name == "" || name == names[best] {
			continue
		}
		text := fmt.Sprintf("%s is in the split %s by column %q, and in %s by column %q", jsontext.Readable(image), names[best], c.Names[best], name, c.Names[i])
		if imagetree.Split(name) != "" {
			c.disagree = cmp.Or(c.disagree, text)
		} else {
			c.mixed = cmp.Or(c.mixed, text)
		}
	}
	name := names[best]
	if c.splits[name] == nil {
		c.splits[name] = &name
	}
	return c.splits[name]
}

// String names the columns.
func (c *SplitColumns) String() string {
	return plural.Noun(len(c.Names), "column") + " " + plural.Quoted(c.Names, len(c.Names))
}

// Fault describes cells that name no split.
func (c *SplitColumns) Fault(cells []string) string {
	return fmt.Sprintf("%s: %s is not the name of a split", c, plural.Quoted(cells, len(cells)))
}

// Splits returns the splits of the columns, sorted, if LabelSpec.SplitColumn names one or train, val or
// test is in one; nil otherwise. It is an error if the columns disagree. Source is the table, for notes.
func (c *SplitColumns) Splits(o *options.ImageOptions, source string) ([]string, error) {
	names := slices.Sorted(maps.Keys(c.splits))
	several := 0 // columns that state splits
	for _, states := range c.stating {
		if states {
			several++
		}
	}
	disagree := c.disagree
	if several > 1 {
		disagree = cmp.Or(disagree, c.mixed)
	}
	switch given := o.Labels.SplitColumn != ""; {
	case len(c.Names) == 0:
		return nil, nil
	case given && len(names) == 0:
		return nil, plan.OptionErrorf(optname.LabelSpecSplitColumn, "no cell of column %q is the name of a split: want letters, digits and _", c.Names[0])
	case given:
		return names, nil
	case disagree != "":
		return nil, fmt.Errorf("%s: %s: make them agree, or give %s", source, disagree, optname.LabelSpecSplitColumn)
	case several > 0:
		o.Notef("%s: splits are those in %s", source, c)
		return names, nil
	}
	o.Notef("%s: %s: not used, as none of the values, such as %s, is train, val or test (%s takes them as splits)",
		source, c, plural.Quoted(names, 3), optname.LabelSpecSplitColumn)
	return nil, nil
}
