package listing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/splitlists"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// splitting finds the splits of the images of a listing.
type splitting struct {
	*Listing
	o *options.ImageOptions
}

func (l *Listing) splitting(o *options.ImageOptions) splitting { return splitting{l, o} }

// splitsFromFiles keeps the splits that the names of all files of a source state, unless options give
// others.
func (l splitting) splitsFromFiles(paths []string, fileOf func(p *origin.Image) int) error {
	if len(l.o.Splits) > 0 {
		return nil
	}
	splits, err := stated.SplitsOfFiles(paths)
	if err != nil {
		return err
	}
	if splits == nil {
		stated.NoteExported(l.o, paths)
	}
	l.keepSplits(splits, fileOf)
	return nil
}

// keepSplits keeps the splits of a source whose files all have one, unless options give others.
func (l splitting) keepSplits(splits []string, fileOf func(p *origin.Image) int) {
	if len(l.o.Splits) > 0 || len(splits) == 0 || slices.Contains(splits, "") {
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

// takeSplitColumns takes over the splits of columns of a table, and reports whether it did.
func (l splitting) takeSplitColumns(c *stated.SplitColumns, table string) (used bool, err error) {
	names, err := c.Splits(l.o, table)
	if err != nil {
		return false, err
	}
	if names == nil {
		for i := range l.Images {
			l.Images[i].Split = nil
		}
		return false, nil
	}
	l.Splits, l.SplitsBy, l.stated = names, plan.SplitsByTable, fmt.Sprintf("%s of %s", c, table)
	return true, nil
}

// stateSplits takes over the splits that a directory or archive states: by directories, by lists, by
// files of annotations, and by names of archives. Options.Splits replaces them; directories of splits
// are not labels even then.
func (l splitting) stateSplits(ctx context.Context) error {
	dirs, err := stated.FindSplitDirectories(l.o, l.Images)
	if err != nil {
		return err
	}
	if len(l.o.Splits) > 0 {
		if l.above = dirs.Above; dirs.Above > 0 {
			l.o.Notef("%s are not taken as splits: %s is given", strings.Join(dirs.Names(), ", "), optname.OptionsSplits)
		}
		l.accountForLists(new(stated.SplitLists), true)
		return nil
	}
	lists, err := stated.FindSplitLists(ctx, l.o, stated.ListSource{Place: l.Origin.Place(), Files: l.Files, Stating: l.stating(), Holds: l.holds}, l.Images)
	if err != nil {
		return err
	}
	if tree, ok := l.Origin.(*origin.Tree); ok {
		tree.Lists = lists.Files()
	}
	if err := dirs.Settle(l.o, l.allStated(lists)); err != nil {
		return err
	}
	l.above = dirs.Above
	known := l.Splits // by files of annotations, or a table
	splits, listed, err := l.agreeOnSplits(dirs, lists)
	if err != nil {
		return err
	}
	l.accountForLists(lists, listed > 0 || known != nil)
	if listed == 0 && known == nil {
		for _, dir := range dirs.Untaken {
			l.Account.Add(account.NoSplit, dir)
		}
		lists.Note(l.o)
		noteNamedSource(l.o, l.Origin)
		if archives, ok := l.Origin.(*origin.Archives); ok {
			stated.NoteExported(l.o, pathsOf(archives))
		}
		return nil
	}
	l.Splits = slices.Sorted(maps.Keys(splits))
	switch {
	case known != nil:
	case lists.Used():
		l.SplitsBy = plan.SplitsByLists
		l.dropUnlisted()
		lists.Note(l.o)
	default:
		dirs.Note(l.o)
	}
	for i := range l.Images {
		if p := &l.Images[i]; p.Split == nil { // a bad sample's path may state none
			p.Split = splits[l.Splits[0]]
		}
	}
	return nil
}

// stating returns the files that may state the splits of the images: those in directories that have
// all images, or next to such.
func (l splitting) stating() (files []string) {
	within := strings.Join(stated.TopDirectories(l.Images), "/") + "/"
	for _, f := range l.Stating {
		if dir, among := splitlists.Root(f.Path, l.holds); among || dir == "" || strings.HasPrefix(within, dir+"/") {
			files = append(files, f.Path)
		}
	}
	return files
}

// holds reports whether a directory of the source has images.
func (l splitting) holds(dir string) bool {
	i, _ := slices.BinarySearchFunc(l.Images, dir+"/", func(p origin.Image, prefix string) int { return strings.Compare(p.Path, prefix) })
	return i < len(l.Images) && strings.HasPrefix(l.Images[i].Path, dir+"/")
}

// allStated reports whether lists or those before state the split of each image that can be used.
func (l splitting) allStated(lists *stated.SplitLists) bool {
	for i := range l.Images {
		if p := &l.Images[i]; p.Split == nil && p.Bad() == nil {
			if split, _ := lists.Of(i); split == "" {
				return false
			}
		}
	}
	return true
}

// agreeOnSplits gives each image the split that directories, lists, the name of its archive and those
// before state for it. It returns the splits, and how many images have one.
func (l splitting) agreeOnSplits(dirs *stated.SplitDirectories, lists *stated.SplitLists) (splits map[string]*string, listed int, err error) {
	splits = map[string]*string{}
	for _, s := range l.Splits {
		splits[s] = &s
	}
	byArchive, bad := l.splitsOfArchives()
	for i := range l.Images {
		p := &l.Images[i]
		listedIn, list := lists.Of(i)
		of := []statement{{listedIn, list}, {dirs.Of(p.Path), "its directory"}, {byArchive(p), "the name of its archive"}}
		split, err := agree(p, l.stated, of...)
		if err != nil {
			return nil, 0, err
		}
		if split == "" {
			continue
		}
		listed++
		if splits[split] == nil {
			name := split // allocated once a split, not once an image
			splits[split] = &name
		}
		p.Split = splits[split]
	}
	if listed == 0 && l.Splits == nil && bad != nil {
		return nil, 0, bad
	}
	return splits, listed, nil
}

// splitsOfArchives returns the split that the name of the archive of an image states, "" for none. Bad
// is an error if some names state splits and others do not.
func (l splitting) splitsOfArchives() (of func(p *origin.Image) string, bad error) {
	archives, ok := l.Origin.(*origin.Archives)
	if !ok {
		return func(*origin.Image) string { return "" }, nil
	}
	splits, bad := stated.SplitsOfFiles(pathsOf(archives))
	return func(p *origin.Image) string {
		if splits == nil || int(p.Item) >= len(archives.Members) {
			return ""
		}
		return splits[archives.Members[p.Item].Archive]
	}, bad
}

// pathsOf returns the paths of archives.
func pathsOf(archives *origin.Archives) (paths []string) {
	for _, in := range archives.Archives {
		paths = append(paths, in.Path())
	}
	return paths
}

// noteNamedSource notes that the name of a source is not taken for a split.
func noteNamedSource(o *options.ImageOptions, source origin.Origin) {
	tree, ok := source.(*origin.Tree)
	if !ok {
		return
	}
	base := path.Base(filepath.ToSlash(tree.Place()))
	if split := imagetree.Split(base); split != "" && split != "train" {
		o.Notef("the images of %s are in the split train: %s %s=1 puts them into %s", base, optname.OptionsSplits, split, split)
	}
}

// statement is a split, "" for none, and what states it.
type statement struct{ split, by string }

// agree returns the split of an image, "" for none, given what states the one that it has, if it has
// one, and other statements. Contradictions are errors, unless the image cannot be used.
func agree(p *origin.Image, by string, others ...statement) (string, error) {
	split := p.SplitName()
	for _, other := range others {
		switch {
		case other.split == "" || other.split == split || split != "" && imagetree.Split(split) == imagetree.Split(other.split) && imagetree.Split(split) != "":
		case split == "":
			split, by = other.split, other.by
		case p.Bad() == nil:
			return "", fmt.Errorf("%s is in the split %s by %s, and in %s by %s: make them agree, or give %s, which replaces both",
				jsontext.Readable(p.Path), split, by, other.split, other.by, optname.OptionsSplits)
		}
	}
	return split, nil
}

// accountForLists adds the files that may state splits, but are not used for that or for another
// purpose. Unless the splits of images are stated otherwise, the splits of unused lists are lost.
func (l splitting) accountForLists(lists *stated.SplitLists, otherwise bool) {
	for _, f := range l.Stating {
		switch {
		case lists.IsUsed(f.Path):
		case !otherwise && !(f.Read && strings.Contains(f.Path, "/")) && lists.IsUnused(f.Path):
			l.Account.Add(account.NoSplit, f.Path)
		case f.Read, l.o.Annotations.HasObjects() && annotation.IsClassFile(path.Base(f.Path)):
		default:
			r := account.OfFile(f.Path)
			if r == account.Splits && (lists.Used() || isYAML(f.Path)) { // others state them; it states none
				r = account.Metadata
			}
			l.Account.Add(r, f.Path)
		}
	}
}

// isYAML reports whether a file is named like a data.yaml, of which splits were read if it has any.
func isYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// dropUnlisted drops the images that no list has.
func (l splitting) dropUnlisted() {
	kept := l.Images[:0]
	example := ""
	for _, p := range l.Images {
		if bad := p.Bad(); p.Split != nil || bad != nil && bad.Reason != noMask {
			kept = append(kept, p)
		} else {
			example = cmp.Or(example, p.Path)
			l.Account.Add(account.Unlisted, p.Path)
		}
	}
	if n := len(l.Images) - len(kept); n > 0 {
		l.Skipped += int64(n)
		l.o.Notef("%s in none of the lists of splits skipped, such as %s (%s takes all)", plural.Of(n, "image"), jsontext.Readable(example), optname.OptionsSplits)
	}
	l.Images = kept
}

// belowSplit returns a path without its directory of a split, if any.
func (l *Listing) belowSplit(p string) string {
	for range l.above {
		_, p, _ = strings.Cut(p, "/")
	}
	return p
}
