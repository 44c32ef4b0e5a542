package stated

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/splitlists"
	"github.com/tfrec/tfrec/internal/storage"
)

// SplitLists are lists that state the splits of images. The zero value has none.
type SplitLists struct {
	Lists []splitlists.List
	found *splitlists.Assignment
}

// Used reports whether an image is in a list.
func (s *SplitLists) Used() bool { return s.found != nil }

// Of returns the split of image i, and the list that states it.
func (s *SplitLists) Of(i int) (split, source string) {
	if s.found == nil {
		return "", ""
	}
	return s.found.Split(s.Lists, i)
}

// Note notes lines of lists without an image, and which lists state splits.
func (s *SplitLists) Note(o *options.ImageOptions) {
	var sources []string
	for k, list := range s.Lists {
		sources = append(sources, list.Source)
		if n := s.found.Unmatched[k]; n > 0 {
			o.Notef("%s: %s of no image here, such as %s", list.Source, plural.Of(n, "line"), jsontext.Readable(s.found.FirstUnmatched[k]))
		}
	}
	o.Notef("splits are those of %s", strings.Join(slices.Compact(sources), ", "))
}

// FindSplitLists finds the lists for images of a directory tree: among files that may state splits, or
// else next to annotations.
func FindSplitLists(ctx context.Context, o *options.ImageOptions, tree *origin.Tree, images []origin.Image, files []string) (*SplitLists, error) {
	s := new(SplitLists)
	var err error
	if s.Lists, err = splitlists.Read(ctx, tree.Root, files); err != nil {
		return nil, err
	}
	for _, f := range o.Annotations.Files {
		at := storage.Parse(f.Path)
		if !at.Remote() { // "." has no name
			at = storage.Parse(origin.Absolute(at))
		}
		for _, root := range []storage.Location{at, at.Dir()} {
			if len(s.Lists) == 0 && origin.Absolute(root) != tree.Place() {
				if s.Lists, err = splitlists.Find(ctx, root); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(s.Lists) == 0 {
		return s, nil
	}
	paths := make([]string, len(images))
	for i := range images {
		paths[i] = images[i].Path
	}
	found, err := splitlists.Assign(s.Lists, paths)
	if err != nil {
		return nil, fmt.Errorf("%w; %s replaces the splits that the source states", err, optname.OptionsSplits)
	}
	if slices.Max(found.Images) == 0 {
		var sources []string
		for _, list := range s.Lists {
			sources = append(sources, list.Source)
		}
		o.Notef("%s: not used, as it has no image here, such as %s", strings.Join(slices.Compact(sources), ", "), jsontext.Readable(cmp.Or(found.FirstUnmatched...)))
		return new(SplitLists), nil
	}
	for _, list := range s.Lists {
		tree.Lists = append(tree.Lists, list.File)
		for _, read := range list.Reads {
			tree.Lists = append(tree.Lists, storage.Join(storage.Dir(list.File), strings.TrimPrefix(read, list.Below+"/")))
		}
	}
	s.found = found
	return s, nil
}
