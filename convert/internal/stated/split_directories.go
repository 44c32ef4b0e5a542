package stated

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// SplitDirectories are directories that are named after splits.
type SplitDirectories struct {
	Above int // how many names of a path are above the label: 0 without splits
	// Stray is an image outside of the directories; "" without.
	Stray string
	// Untaken are directories that may be splits, but are not taken as splits.
	Untaken []string

	at    int               // which name of a path is the split
	below string            // the directory that these are in, which ends in a slash; "" for the source
	of    map[string]string // the split of each directory, by its name
	dirs  map[string]string // the path of the directory of a split, by split
}

// Of returns the split of the directory that an image is in; "" without.
func (d *SplitDirectories) Of(p string) string {
	rest, ok := strings.CutPrefix(p, d.below)
	first, _, in := strings.Cut(rest, "/")
	if !ok || !in {
		return ""
	}
	return d.of[first]
}

// Names returns the directories, in the order of their splits.
func (d *SplitDirectories) Names() (names []string) {
	for _, split := range slices.Sorted(maps.Keys(d.dirs)) {
		names = append(names, d.dirs[split])
	}
	return names
}

// Note notes which directories are not named exactly like their splits.
func (d *SplitDirectories) Note(o *options.ImageOptions) {
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

// Settle decides on images outside of the directories, unless other statements give all of them splits
// and directories are not labels. One directory with such images is a class.
func (d *SplitDirectories) Settle(o *options.ImageOptions, stated bool) error {
	switch names := d.Names(); {
	case d.Stray == "" || stated && !labelled(o):
	case len(names) > 1:
		// As classes, the images held out for testing would be trained on.
		if d.at > 0 && !labelled(o) { // not where splits usually are
			o.Notef("%s are not taken as directories of splits: there are images outside of them, such as %s", strings.Join(names, ", "), jsontext.Readable(d.Stray))
			*d = SplitDirectories{Untaken: names}
			return nil
		}
		return fmt.Errorf("%s are split directories, but %s is in none of them: move it, leave it out with %s, or give %s", strings.Join(names, ", "), jsontext.Readable(d.Stray), optname.SelectSpecExclude, optname.OptionsSplits)
	default:
		o.Notef("the directory %s is taken as a class, not as a split: there are images outside of it, such as %s", names[0], jsontext.Readable(d.Stray))
		*d = SplitDirectories{}
		if split := imagetree.Split(path.Base(names[0])); split != "train" {
			d.Untaken = names
		}
	}
	return nil
}

// labelled reports whether the labels of images are the names of directories.
func labelled(o *options.ImageOptions) bool { return !o.Labels.None && o.Labels.File == "" }

// FindSplitDirectories finds the directories of splits: SPLIT/... or, below the only directories with
// images, images/SPLIT/... and, if directories are not labels, TOP/SPLIT/...
func FindSplitDirectories(o *options.ImageOptions, images []origin.Image) (*SplitDirectories, error) {
	top := TopDirectories(images)
	for at := range len(top) + 1 {
		d, err := splitDirectoriesAt(images, top[:at])
		if err != nil {
			return nil, err
		}
		if len(d.dirs) == 0 {
			continue
		}
		if at > 0 && labelled(o) && !imagetree.HoldsImages(top[at-1]) {
			return d.untaken(o), nil
		}
		return d, nil
	}
	d := new(SplitDirectories)
	d.findUntaken(o, images)
	return d, nil
}

// untaken returns no directories, since labels are those above them.
func (d *SplitDirectories) untaken(o *options.ImageOptions) *SplitDirectories {
	if d.at > 1 {
		o.Notef("%s are not taken as directories of splits, as they are below %s, which is taken as the only class: to use them, convert %s", strings.Join(d.Names(), ", "), jsontext.Readable(d.below), jsontext.Readable(d.below))
	}
	if !holdsOut(d.dirs) {
		return new(SplitDirectories)
	}
	return &SplitDirectories{Untaken: d.Names()}
}

// holdsOut reports whether images of val or test are in the directories, by split.
func holdsOut(dirs map[string]string) bool { return dirs["val"] != "" || dirs["test"] != "" }

// TopDirectories returns the directories that all images are in, each in the one before it.
func TopDirectories(images []origin.Image) (top []string) {
	first := true
	for i := range images {
		if images[i].Bad() != nil {
			continue // its path does not tell
		}
		dirs := strings.Split(images[i].Path, "/")
		dirs = dirs[:len(dirs)-1]
		if first {
			top, first = dirs, false
		}
		same := 0
		for same < min(len(top), len(dirs)) && top[same] == dirs[same] {
			same++
		}
		if top = top[:same]; same == 0 {
			break
		}
	}
	return top
}

// splitDirectoriesAt finds the directories of splits in the directory that all images are in.
func splitDirectoriesAt(images []origin.Image, top []string) (*SplitDirectories, error) {
	d := &SplitDirectories{at: len(top), of: map[string]string{}, dirs: map[string]string{}}
	for _, name := range top {
		d.below += name + "/"
	}
	repeated := true // each directory has one of its own name, with all of its images
	for i := range images {
		p := &images[i]
		if p.Bad() != nil {
			continue
		}
		first, rest, ok := strings.Cut(p.Path[len(d.below):], "/")
		if !ok {
			d.Stray = p.Path
			continue
		}
		d.of[first] = ""
		repeated = repeated && strings.HasPrefix(rest, first+"/")
	}
	names := slices.Sorted(maps.Keys(d.of))
	for i, split := range imagetree.SplitsOf(names) {
		name := names[i]
		if split == "" || d.Stray != "" && imagetree.Split(name) == "" {
			delete(d.of, name)
			continue
		}
		if other, ok := d.dirs[split]; ok {
			return nil, fmt.Errorf("the directories %s and %s both name the split %s: merge or rename them, or leave one out with %s", other, d.below+name, split, optname.SelectSpecExclude)
		}
		d.of[name], d.dirs[split] = split, d.below+name
	}
	if len(d.dirs) == 0 {
		return d, nil
	}
	for i := range images {
		if p := &images[i]; p.Bad() == nil && d.Of(p.Path) == "" {
			d.Stray = p.Path
		}
	}
	if d.Stray == "" {
		d.Above = d.at + 1
		if repeated {
			d.Above++
		}
	}
	return d, nil
}

// mostSplits is the maximum number of directories with unknown names that may be splits.
const mostSplits = 5

// findUntaken finds directories that may be splits, but are not taken as splits: in the directories
// of classes, or named after splits among others.
func (d *SplitDirectories) findUntaken(o *options.ImageOptions, images []origin.Image) {
	loose, inner := map[string]string{}, map[string]string{} // the first directory by split
	outer := map[string]string{}                             // the first directory in each, if all images are in such
	all := true                                              // are in an inner directory of a split
	for i := range images {
		p := &images[i]
		if p.Bad() != nil {
			continue
		}
		first, rest, ok := strings.Cut(p.Path, "/")
		if !ok {
			return
		}
		if split := imagetree.SplitOfFile(first); split != "" && loose[split] == "" {
			loose[split] = first
		}
		second, _, ok := strings.Cut(rest, "/")
		if !ok {
			outer = nil
		} else if outer != nil && outer[first] == "" {
			outer[first] = first + "/" + second
		}
		split := imagetree.Split(second)
		if all = all && ok && split != ""; all && inner[split] == "" {
			inner[split] = first + "/" + second
		}
	}
	switch {
	case all && holdsOut(inner):
		d.Untaken = slices.Sorted(maps.Values(inner))
		o.Notef("%s may be directories of splits, and are not taken as these: directories of splits are above those of classes; move them there, or give %s", strings.Join(d.Untaken, ", "), optname.OptionsSplits)
	case len(loose) > 1, holdsOut(loose) && len(TopDirectories(images)) > 0:
		d.Untaken = slices.Sorted(maps.Values(loose))
		o.Notef("%s may be directories of splits, and are not taken as these: if they are, name them train, val and test and leave others out with %s; if not, give %s", strings.Join(d.Untaken, ", "), optname.SelectSpecExclude, optname.OptionsSplits)
	case labelled(o) && len(outer) > 1 && len(outer) <= mostSplits:
		o.Notef("the classes are %s, and directories in them, such as %s, do not count: if these are splits, convert each by itself, with %s, and merge the sets",
			plural.Quoted(slices.Sorted(maps.Keys(outer)), 5), jsontext.Readable(slices.Min(slices.Collect(maps.Values(outer)))), optname.OptionsSplits)
	}
}
