package stated

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation/splitlists"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// SplitLists are lists that may state the splits of images. The zero value has none.
type SplitLists struct {
	lists []splitlists.List
	found *splitlists.Assignment
}

// Used reports whether an image is in a list.
func (s *SplitLists) Used() bool {
	return s.found != nil && slices.Contains(s.found.Roles, splitlists.Used)
}

// Of returns the split of image i, and the list that states it.
func (s *SplitLists) Of(i int) (split, source string) {
	if s.found == nil {
		return "", ""
	}
	return s.found.Split(s.lists, i)
}

// IsUsed reports whether a file of the source is a list that is used or compared with such, is named by
// one, or is in the ImageSets directory of one.
func (s *SplitLists) IsUsed(file string) bool {
	for k, list := range s.lists {
		if s.found.Roles[k] != splitlists.Unused &&
			(list.Source == file || slices.Contains(list.Reads, file) || path.Dir(list.Source) == path.Dir(file) && path.Base(path.Dir(path.Dir(file))) == "ImageSets") {
			return true
		}
	}
	return false
}

// IsUnused reports whether a file of the source is a list of none of the images.
func (s *SplitLists) IsUnused(file string) bool {
	return slices.ContainsFunc(s.lists, func(list splitlists.List) bool { return list.Source == file }) && !s.IsUsed(file)
}

// Files returns the paths of the lists, and of the files that they name.
func (s *SplitLists) Files() (paths []string) {
	for k, list := range s.lists {
		if s.found.Roles[k] == splitlists.Unused {
			continue
		}
		paths = append(paths, list.File)
		for _, read := range list.Reads {
			paths = append(paths, storage.Join(storage.Dir(list.File), strings.TrimPrefix(read, list.Below+"/")))
		}
	}
	return paths
}

// Note notes lines of lists without an image, and which lists state splits or, if none is used, which
// are not.
func (s *SplitLists) Note(o *options.ImageOptions) {
	var sources, unused []string
	example, some := "", false
	for k, list := range s.lists {
		n, first := s.found.Unmatched[k], jsontext.Readable(s.found.FirstUnmatched[k])
		switch {
		case s.found.Roles[k] == splitlists.Used:
			sources = append(sources, named(&list))
		case n > 0 && !list.Optional:
			unused, example, some = append(unused, list.Source), cmp.Or(example, first), some || list.Tentative
		}
		if n > 0 && !list.Optional && s.Used() {
			o.Notef("%s: %s of no image here, such as %s", list.Source, plural.Of(n, "line"), first)
		}
	}
	switch {
	case len(sources) > 0:
		o.Notef("splits are those of %s", strings.Join(slices.Compact(sources), ", "))
	case some:
		o.Notef("%s: not used, as not each line names an image here: such as %s", strings.Join(slices.Compact(unused), ", "), example)
	case len(unused) > 0:
		o.Notef("%s: not used, as it has no image here, such as %s", strings.Join(slices.Compact(unused), ", "), example)
	}
}

// named returns the file of a list, with the split if that is another word than it has.
func named(list *splitlists.List) string {
	if list.As != list.Split {
		return fmt.Sprintf("%s (%s is %s)", list.Source, list.As, list.Split)
	}
	return list.Source
}

// ListSource is where lists are looked for.
type ListSource struct {
	Place string           // of the images
	Files splitlists.Files // of the source
	// Stating are files of the source, each of which splitlists.MayState.
	Stating []string
	// Holds reports whether a directory has images.
	Holds func(dir string) bool
}

// FindSplitLists finds the lists for images of a directory tree or of archives: among files that may
// state splits, or else next to annotations or masks.
func FindSplitLists(ctx context.Context, o *options.ImageOptions, in ListSource, images []origin.Image) (*SplitLists, error) {
	s := new(SplitLists)
	annotations := &o.Annotations
	look := splitlists.Options{
		Segmentation: annotations.HasMasks() && !annotations.HasObjects(),
		Holds:        in.Holds,
		Wants:        func(file string) bool { return !options.AnyMatches(o.Select.Exclude, file) },
	}
	var err error
	if s.lists, err = splitlists.Read(ctx, in.Files, in.Stating, look); err != nil {
		return nil, err
	}
	var beside []string
	for _, f := range annotations.Files {
		beside = append(beside, f.Path)
	}
	if annotations.HasMasks() {
		beside = append(beside, annotations.Masks)
	}
	for _, name := range beside {
		at := storage.Parse(name)
		if !at.Remote() { // "." has no name
			at = storage.Parse(origin.Absolute(at))
		}
		for _, root := range []storage.Location{at, at.Dir()} {
			if len(s.lists) == 0 && origin.Absolute(root) != in.Place {
				if s.lists, err = splitlists.Find(ctx, root, look); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(s.lists) == 0 {
		return s, nil
	}
	paths := make([]string, len(images))
	for i := range images {
		paths[i] = images[i].Path
	}
	if s.found, err = splitlists.Assign(s.lists, paths); err != nil {
		return nil, fmt.Errorf("%w; %s leaves a list out, and %s replaces the splits that the source states", err, optname.SelectSpecExclude, optname.OptionsSplits)
	}
	return s, nil
}
