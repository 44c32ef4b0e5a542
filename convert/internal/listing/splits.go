package listing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/splitlists"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// splitsOfFiles returns the splits that the names of files with many images state, or those of their
// directories, if these are several; nil if they state none. It is an error if some are of val or
// test, and others of none.
func splitsOfFiles(paths []string) ([]string, error) {
	bases, dirs := make([]string, len(paths)), make([]string, len(paths))
	for i, file := range paths {
		file = filepath.ToSlash(file)
		bases[i], dirs[i] = path.Base(file), path.Base(path.Dir(file))
	}
	splits, held, bare := splitsIn(bases, imagetree.SplitOfFile)
	if splits == nil && held < 0 && slices.ContainsFunc(dirs, func(dir string) bool { return dir != dirs[0] }) {
		splits, held, bare = splitsIn(dirs, imagetree.Split)
	}
	of := make([]string, len(bases))
	known := false
	for i, base := range bases {
		of[i] = exported(base)
		known = known || imagetree.Split(of[i]) != ""
	}
	switch {
	case splits != nil:
		return splits, nil
	case known && !slices.Contains(of, ""):
		return of, nil
	case held >= 0:
		return nil, fmt.Errorf("%s is of the split %s by its name, and the name of %s states none: rename one, convert them one by one, or give %s",
			paths[held], cmp.Or(imagetree.SplitOfFile(bases[held]), imagetree.Split(dirs[held])), paths[bare], optname.OptionsSplits)
	}
	return nil, nil
}

// splitsIn returns the splits that names state, nil if one states none. Then held is a name of val or
// test, -1 if there is none, and bare one that states none.
func splitsIn(names []string, split func(name string) string) (splits []string, held, bare int) {
	held, bare = -1, -1
	for i, name := range names {
		s := split(name)
		splits = append(splits, s)
		switch s {
		case "":
			bare = i
		case "train":
		default:
			held = i
		}
	}
	if bare >= 0 {
		splits = nil
	}
	return splits, held, bare
}

// splitFile matches the name of one of the files of a split as export writes it: train-000000.tar, or
// train-00000-of-00004.parquet, which may have a hash after it.
var splitFile = regexp.MustCompile(`^(.+?)-\d{5,}(?:-of-\d{5,}(?:-[0-9a-f]+)?)?\.`)

// exported returns the split, of any name, in the name of an exported file; "" for others.
func exported(base string) string {
	m := splitFile.FindStringSubmatch(base)
	if m == nil || shard.CheckSplit(m[1]) != nil {
		return ""
	}
	return cmp.Or(imagetree.Split(m[1]), m[1])
}

// splitsFromFiles keeps the splits that the names of all files of a source state, unless others are
// asked for.
func (l *Listing) splitsFromFiles(o *options.ImageOptions, paths []string, fileOf func(p *origin.Image) int) error {
	if len(o.Splits) > 0 {
		return nil
	}
	splits, err := splitsOfFiles(paths)
	if err == nil {
		l.keepSplits(o, splits, fileOf)
	}
	return err
}

// keepSplits keeps the splits of a source whose files all have one, unless others are asked for.
func (l *Listing) keepSplits(o *options.ImageOptions, splits []string, fileOf func(p *origin.Image) int) {
	if len(o.Splits) > 0 || len(splits) == 0 || slices.Contains(splits, "") {
		return
	}
	l.Splits = slices.Compact(slices.Sorted(slices.Values(splits)))
	for i := range l.Images {
		p := &l.Images[i]
		if bad := p.Bad(); bad != nil && bad.Line > 0 {
			p.Split = &l.Splits[0] // a row of a table without an image
			continue
		}
		p.Split = &splits[fileOf(p)]
	}
}

// stateSplits takes over the splits that a directory or archive states: by directories, by lists, and
// by files of annotations. Those of Options.Splits replace them; directories of splits are no labels
// even then.
func (l *Listing) stateSplits(ctx context.Context, o *options.ImageOptions) error {
	dirs, err := l.splitDirectories(o)
	if err != nil {
		return err
	}
	l.above = dirs.above
	if len(o.Splits) > 0 {
		if dirs.above > 0 {
			o.Notef("%s are not taken as splits: %s is given", strings.Join(dirs.names(), ", "), optname.OptionsSplits)
		}
		l.accountForLists(o, nil)
		return nil
	}
	lists, err := l.splitLists(ctx, o)
	if err != nil {
		return err
	}
	l.accountForLists(o, lists.lists)
	stated := l.Splits // by files of annotations
	splits := map[string]*string{}
	for _, s := range stated {
		splits[s] = &s
	}
	listed := 0
	for i := range l.Images {
		p := &l.Images[i]
		split, by := p.SplitName(), l.stated
		for _, other := range [][2]string{lists.of(i), {dirs.split(p.Path), "its directory"}} {
			switch name, source := other[0], other[1]; {
			case name == "" || name == split:
			case split == "":
				split, by = name, source
			case p.Bad() == nil:
				return fmt.Errorf("%s is in the split %s by %s, and in %s by %s: make them agree, or give %s, which replaces both",
					jsontext.Readable(p.Path), split, by, name, source, optname.OptionsSplits)
			}
		}
		if split == "" {
			continue
		}
		listed++
		if splits[split] == nil {
			name := split
			splits[split] = &name
		}
		p.Split = splits[split]
	}
	if listed == 0 && stated == nil {
		if tree, ok := l.Origin.(*origin.Tree); ok {
			base := path.Base(filepath.ToSlash(tree.Place()))
			if split := imagetree.Split(base); split != "" && split != "train" {
				o.Notef("the images of %s are in the split train: %s %s=1 puts them into %s", base, optname.OptionsSplits, split, split)
			}
		}
		return nil
	}
	l.Splits = slices.Sorted(maps.Keys(splits))
	switch {
	case stated != nil:
	case lists.used():
		l.SplitsBy = plan.SplitsByLists
		l.dropUnlisted(o, lists)
	default:
		dirs.note(o)
	}
	for i := range l.Images {
		if p := &l.Images[i]; p.Split == nil { // a bad sample's path may state none
			p.Split = splits[l.Splits[0]]
		}
	}
	return nil
}

// accountForLists adds the files that may state splits, and are not used for that or for classes.
func (l *Listing) accountForLists(o *options.ImageOptions, used []splitlists.List) {
	for _, file := range l.stating {
		isUsed := slices.ContainsFunc(used, func(list splitlists.List) bool {
			return list.Source == file || slices.Contains(list.Reads, file) || path.Dir(list.Source) == path.Dir(file) && path.Dir(file) != "."
		})
		if !isUsed && !(o.Annotations.HasObjects() && annotation.IsClassFile(path.Base(file))) {
			l.Account.Add(account.OfFile(file), file)
		}
	}
}

// dropUnlisted drops the images that no list has.
func (l *Listing) dropUnlisted(o *options.ImageOptions, lists *statedLists) {
	kept := l.Images[:0]
	example := ""
	for _, p := range l.Images {
		if p.Split != nil || p.Bad() != nil {
			kept = append(kept, p)
		} else {
			example = cmp.Or(example, p.Path)
			l.Account.Add(account.Unlisted, p.Path)
		}
	}
	if n := len(l.Images) - len(kept); n > 0 {
		l.Skipped += int64(n)
		o.Notef("%s in none of the lists of splits left alone, such as %s (%s takes all)", plural.Of(n, "image"), jsontext.Readable(example), optname.OptionsSplits)
	}
	l.Images = kept
	var sources []string
	for k, list := range lists.lists {
		sources = append(sources, list.Source)
		if n := lists.found.Unmatched[k]; n > 0 {
			o.Notef("%s: %s of no image here, such as %s", list.Source, plural.Of(n, "line"), jsontext.Readable(lists.found.FirstUnmatched[k]))
		}
	}
	o.Notef("splits are those of %s", strings.Join(slices.Compact(sources), ", "))
}

// statedLists are the lists of splits of a source. The zero value has none.
type statedLists struct {
	lists []splitlists.List
	found *splitlists.Assignment
}

// used reports whether an image is in a list.
func (s *statedLists) used() bool { return s.found != nil }

// of returns the split of an image, and the list that states it.
func (s *statedLists) of(i int) [2]string {
	if s.found == nil {
		return [2]string{}
	}
	split, source := s.found.Split(s.lists, i)
	return [2]string{split, source}
}

// splitLists finds the lists of a source that is a directory: in it, and else beside annotations.
func (l *Listing) splitLists(ctx context.Context, o *options.ImageOptions) (*statedLists, error) {
	tree, ok := l.Origin.(*origin.Tree)
	if !ok {
		return new(statedLists), nil
	}
	s := new(statedLists)
	var err error
	if s.lists, err = splitlists.Read(ctx, tree.Root, l.stating); err != nil {
		return nil, err
	}
	for _, f := range o.Annotations.Files {
		at := storage.Parse(f.Path)
		if !at.Remote() { // "." has no name
			at = storage.Parse(origin.Absolute(at))
		}
		for _, root := range []storage.Location{at, at.Dir()} {
			if len(s.lists) == 0 && origin.Absolute(root) != tree.Place() {
				if s.lists, err = splitlists.Find(ctx, root); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(s.lists) == 0 {
		return s, nil
	}
	images := make([]string, len(l.Images))
	for i := range images {
		images[i] = l.Images[i].Path
	}
	found, err := splitlists.Assign(s.lists, images)
	if err != nil {
		return nil, fmt.Errorf("%w; %s replaces the splits that the source states", err, optname.OptionsSplits)
	}
	if slices.Max(found.Images) == 0 {
		var sources []string
		for _, list := range s.lists {
			sources = append(sources, list.Source)
		}
		o.Notef("%s: not used, as it has no image here, such as %s", strings.Join(slices.Compact(sources), ", "), jsontext.Readable(cmp.Or(found.FirstUnmatched...)))
		return new(statedLists), nil
	}
	for _, list := range s.lists {
		tree.Lists = append(tree.Lists, list.File)
		for _, read := range list.Reads {
			tree.Lists = append(tree.Lists, storage.Join(storage.Dir(list.File), strings.TrimPrefix(read, list.Below+"/")))
		}
	}
	s.found = found
	return s, nil
}

// splitDirectories are the directories of splits.
type splitDirectories struct {
	above int               // how many names of a path are above the label: 0 without splits
	dirs  map[string]string // by split
}

// split returns the split of the directory that an image is in; "" without.
func (d *splitDirectories) split(p string) string {
	for range d.above - 1 {
		_, p, _ = strings.Cut(p, "/")
	}
	first, _, ok := strings.Cut(p, "/")
	if d.above == 0 || !ok {
		return ""
	}
	return imagetree.Split(first)
}

// names are the directories, in the order of their splits.
func (d *splitDirectories) names() (names []string) {
	for _, split := range slices.Sorted(maps.Keys(d.dirs)) {
		names = append(names, d.dirs[split])
	}
	return names
}

// note notes which directories have other names than their splits.
func (d *splitDirectories) note(o *options.ImageOptions) {
	var renamed []string
	for _, split := range slices.Sorted(maps.Keys(d.dirs)) {
		if dir := d.dirs[split]; path.Base(dir) != split {
			renamed = append(renamed, fmt.Sprintf("%s is the split %s", dir, split))
		}
	}
	if len(renamed) > 0 {
		o.Notef("%s", strings.Join(renamed, ", "))
	}
}

// splitDirectories finds the directories of splits: SPLIT/... or, beside a directory of labels or
// with annotations, images/SPLIT/...
func (l *Listing) splitDirectories(o *options.ImageOptions) (*splitDirectories, error) {
	above := ""
	if first := l.firstNames(); len(first) == 1 && slices.Contains(imageDirs, strings.ToLower(first[0])) &&
		(o.Annotations.HasObjects() || slices.ContainsFunc(l.directories, func(dir string) bool { return strings.EqualFold(dir, "labels") })) {
		above = first[0] + "/"
	}
	d := &splitDirectories{dirs: map[string]string{}}
	stray := "" // an image outside of these
	for i := range l.Images {
		p := &l.Images[i]
		if p.Bad() != nil {
			continue // its path does not tell
		}
		first, _, ok := strings.Cut(strings.TrimPrefix(p.Path, above), "/")
		split := imagetree.Split(first)
		if !ok || split == "" {
			stray = p.Path
			continue
		}
		if other, ok := d.dirs[split]; ok && other != above+first {
			return nil, fmt.Errorf("the directories %s and %s both name the split %s: merge or rename them, or leave one out with %s", other, above+first, split, optname.SelectSpecExclude)
		}
		d.dirs[split] = above + first
	}
	switch {
	case len(d.dirs) == 0:
		return d, nil
	case stray != "" && len(d.dirs) > 1:
		// As classes, the images held out for testing would be trained on.
		return nil, fmt.Errorf("%s are split directories, but %s is in none of them: move it, or leave it out with %s", strings.Join(d.names(), ", "), jsontext.Readable(stray), optname.SelectSpecExclude)
	case stray != "":
		o.Notef("the directory %s is taken as a class, not as a split: there are images outside of it, such as %s", d.names()[0], jsontext.Readable(stray))
		return new(splitDirectories), nil
	}
	d.above = 1 + strings.Count(above, "/")
	return d, nil
}

// firstNames are the first names of the paths of images, without those of bad samples.
func (l *Listing) firstNames() (names []string) {
	for i := range l.Images {
		first, _, ok := strings.Cut(l.Images[i].Path, "/")
		if ok && l.Images[i].Bad() == nil && (len(names) == 0 || names[len(names)-1] != first) {
			names = append(names, first)
		}
	}
	return names
}

// belowSplit returns a path without its directory of a split, if any.
func (l *Listing) belowSplit(p string) string {
	for range l.above {
		_, p, _ = strings.Cut(p, "/")
	}
	return p
}

// splitColumn is a column of a table with the split of each image. The zero value is none.
type splitColumn struct {
	name   string
	splits map[string]*string // found in it, by the names that they have in the set
}

// of returns the split that a cell names; nil if it names none.
func (c *splitColumn) of(cell string) *string {
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

// names notes that a cell names no split.
func (c *splitColumn) names(cell string) string {
	return fmt.Sprintf("column %q: %q is not the name of a split", c.name, cell)
}

// state makes the splits of the column those of the listing, if LabelSpec.SplitColumn names it or
// one of them is train, val or test. It reports whether it did.
func (c *splitColumn) state(o *options.ImageOptions, l *Listing, source string) (used bool, err error) {
	if c.name == "" {
		return false, nil
	}
	names := slices.Sorted(maps.Keys(c.splits))
	switch given := o.Labels.SplitColumn != ""; {
	case given && len(names) == 0:
		return false, plan.OptionErrorf(optname.LabelSpecSplitColumn, "no cell of column %q is the name of a split: want letters, digits and _", c.name)
	case given, slices.ContainsFunc(names, func(name string) bool { return imagetree.Split(name) != "" }):
		l.Splits, l.SplitsBy, l.stated = names, plan.SplitsByTable, fmt.Sprintf("column %q of %s", c.name, source)
		return true, nil
	}
	o.Notef("%s: column %q is not used: none of its values, such as %s, is train, val or test (%s takes them as splits)",
		source, c.name, plural.Quoted(names, 3), optname.LabelSpecSplitColumn)
	for i := range l.Images {
		l.Images[i].Split = nil
	}
	return false, nil
}
