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
)

// SplitDirectories are directories that are named after splits.
type SplitDirectories struct {
	Above int               // how many names of a path are above the label: 0 without splits
	dirs  map[string]string // by split
}

// Of returns the split of the directory that an image is in; "" without.
func (d *SplitDirectories) Of(p string) string {
	for range d.Above - 1 {
		_, p, _ = strings.Cut(p, "/")
	}
	first, _, ok := strings.Cut(p, "/")
	if d.Above == 0 || !ok {
		return ""
	}
	return imagetree.Split(first)
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

// FindSplitDirectories finds the directories of splits: SPLIT/... or, next to a directory of labels or
// with annotations, images/SPLIT/...
func FindSplitDirectories(o *options.ImageOptions, images []origin.Image, directories []string) (*SplitDirectories, error) {
	above := ""
	if first := firstNames(images); len(first) == 1 && imagetree.HoldsImages(first[0]) &&
		(o.Annotations.HasObjects() || slices.ContainsFunc(directories, func(dir string) bool { return strings.EqualFold(dir, "labels") })) {
		above = first[0] + "/"
	}
	d := &SplitDirectories{dirs: map[string]string{}}
	stray := "" // an image outside of these
	for i := range images {
		p := &images[i]
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
		return nil, fmt.Errorf("%s are split directories, but %s is in none of them: move it, or leave it out with %s", strings.Join(d.Names(), ", "), jsontext.Readable(stray), optname.SelectSpecExclude)
	case stray != "":
		o.Notef("the directory %s is taken as a class, not as a split: there are images outside of it, such as %s", d.Names()[0], jsontext.Readable(stray))
		return new(SplitDirectories), nil
	}
	d.Above = 1 + strings.Count(above, "/")
	return d, nil
}

// firstNames returns the first elements of the paths of images, except bad samples.
func firstNames(images []origin.Image) (names []string) {
	for i := range images {
		first, _, ok := strings.Cut(images[i].Path, "/")
		if ok && images[i].Bad() == nil && (len(names) == 0 || names[len(names)-1] != first) {
			names = append(names, first)
		}
	}
	return names
}
