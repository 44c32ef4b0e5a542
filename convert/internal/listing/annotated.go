package listing

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// takeAnnotated replaces the listing by the images that AnnotationSpec.Files list. Annotations that
// cannot be used become bad samples. Other images count as skipped files, unless they are kept.
func (l *Listing) takeAnnotated(ctx context.Context, o *options.ImageOptions) error {
	a, err := annotations.Read(ctx, o)
	if err != nil {
		return err
	}
	l.Annotations = a
	if splits := o.Annotations.Splits(); splits != nil {
		l.Splits, l.SplitsBy, l.stated = splits, plan.SplitsByAnnotations, optname.AnnotationSpecFiles.String()
	}
	unused := annotation.Fields{}
	for _, set := range a.Sets {
		unused.Merge(set.Unused)
		for _, f := range set.Faults {
			l.Loose = append(l.Loose, annotations.Loose(f))
		}
	}
	for _, name := range unused.Names() {
		l.Account.Add(account.Field, fmt.Sprintf("%s (%d)", name, unused[name]))
	}
	m, err := matchAnnotations(o, a, &l.Found)
	if err != nil {
		return err
	}
	if m.left > 0 {
		o.Notef("%s left out by %s and %s", plural.Of(m.left, "annotated image"), optname.SelectSpecInclude, optname.SelectSpecExclude)
	}
	keeps := keepsUnannotated(o, a)
	if keeps && !o.Annotations.KeepUnannotated {
		noteUnlabelled(o, l.Images, m.files)
	}
	kept := l.Images[:0]
	for i, p := range l.Images {
		if m.files[i] != 0 || keeps {
			kept = append(kept, p)
		} else {
			l.Account.Add(account.Unannotated, p.Path)
		}
	}
	if n := len(l.Images) - len(kept); n > 0 {
		l.Skipped += int64(n)
		o.Notef("%s without annotations skipped (%s keeps such images)", plural.Of(n, "image"), optname.AnnotationSpecKeepUnannotated)
	}
	if len(kept) == 0 {
		return fmt.Errorf("%s: none of the images in %s is annotated: names must be equal but for extensions", optname.AnnotationSpecFiles, l.Origin.Place())
	}
	l.Images = append(kept, m.missing...)
	slices.SortStableFunc(l.Images, func(a, b origin.Image) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// matches is the result of matching annotations with found images.
type matches struct {
	files   []int32        // for each image, the number of the file that annotates it, from 1; 0 without
	missing []origin.Image // bad samples, of annotated images that were not found
	left    int            // annotated images that the globs leave out
}

// matchAnnotations attaches annotations to the found images of the same name.
func matchAnnotations(o *options.ImageOptions, a *annotations.Union, found *walk.Found) (*matches, error) {
	paths := make([]string, len(found.Images), len(found.Images)+len(found.Excluded))
	for i := range found.Images {
		paths[i] = found.Images[i].Path
	}
	paths = append(paths, found.Excluded...)
	m := &matches{files: make([]int32, len(found.Images))}
	for i, set := range a.Sets {
		file := o.Annotations.Files[i]
		var split *string
		if file.Split != "" {
			split = &file.Split
		}
		set.Within(file.Path, file.Split, paths)
		matched, err := set.Match(paths)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", optname.AnnotationSpecFiles, file.Path, err)
		}
		for at, k := range matched.Of {
			switch {
			case k < 0:
			case at >= len(found.Images):
				m.left++
			case m.files[at] != 0:
				return nil, fmt.Errorf("%s: %s and %s both annotate %s", optname.AnnotationSpecFiles, o.Annotations.Files[m.files[at]-1].Path, file.Path, jsontext.Readable(paths[at]))
			default:
				m.files[at] = int32(i) + 1
				annotations.Attach(&found.Images[at], &set.Images[k], split)
			}
		}
		for _, k := range matched.Missing {
			image := &set.Images[k]
			if !o.Select.WantsNamed(image.Name) {
				m.left++
				continue
			}
			m.missing = append(m.missing, annotations.Missing(image, split))
		}
	}
	return m, nil
}

// noteUnlabelled notes directories of images that are kept without objects where no image has labels:
// their labels may be in a directory that was not given. Files is matches.files.
func noteUnlabelled(o *options.ImageOptions, found []origin.Image, files []int32) {
	labelled, unlabelled := map[string]bool{}, map[string]int{}
	for i := range found {
		if dir := path.Dir(found[i].Path); files[i] != 0 {
			labelled[dir] = true
		} else {
			unlabelled[dir]++
		}
	}
	maps.DeleteFunc(unlabelled, func(dir string, _ int) bool { return labelled[dir] })
	images := 0
	for _, n := range unlabelled {
		images += n
	}
	if images > 0 {
		o.Notef("%s without objects in %s, none of whose images has labels: give the directories of their labels, too, or leave them out with %s",
			plural.Of(images, "image"), plural.Quoted(slices.Sorted(maps.Keys(unlabelled)), 3), optname.SelectSpecExclude)
	}
}

// keepsUnannotated reports whether images that no file lists are samples: for YOLO they are images
// without objects, if their split is known.
func keepsUnannotated(o *options.ImageOptions, a *annotations.Union) bool {
	return o.Annotations.KeepUnannotated || a.Format == "yolo" && o.Annotations.Splits() == nil
}
