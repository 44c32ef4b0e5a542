package listing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
)

// annotate adds masks and annotations to the listed images.
func (l *Listing) annotate(ctx context.Context, o *options.ImageOptions) error {
	if o.Annotations.HasMasks() {
		if err := l.addMasks(ctx, o); err != nil {
			return err
		}
	}
	if o.Annotations.HasObjects() {
		return l.imagesFromAnnotations(ctx, o)
	}
	return nil
}

// imagesFromAnnotations replaces the listing by the images that AnnotationSpec.Files list. What
// they say that cannot be used becomes bad samples. Other images count as skipped files, unless they
// are kept.
func (l *Listing) imagesFromAnnotations(ctx context.Context, o *options.ImageOptions) error {
	a, err := ReadAnnotations(ctx, o)
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
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		l.Account.Add(account.Field, fmt.Sprintf("%s (%d)", name, unused[name]))
	}
	paths := make([]string, len(l.Images), len(l.Images)+len(l.excluded))
	for i := range l.Images {
		paths[i] = l.Images[i].Path
	}
	all := append(paths, l.excluded...)
	of := make([]int32, len(l.Images)) // the file that annotates an image, from 1
	var missing []origin.Image
	left := 0
	for i, set := range a.Sets {
		file := o.Annotations.Files[i]
		var split *string
		if file.Split != "" {
			split = &file.Split
		}
		set.Within(file.Path, all)
		found, err := set.Match(all)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", optname.AnnotationSpecFiles, file.Path, err)
		}
		for at, k := range found.Of {
			if k < 0 {
				continue
			}
			if at >= len(l.Images) {
				left++
				continue
			}
			if of[at] != 0 {
				return fmt.Errorf("%s: %s and %s both annotate %s", optname.AnnotationSpecFiles, o.Annotations.Files[of[at]-1].Path, file.Path, jsontext.Readable(paths[at]))
			}
			of[at] = int32(i) + 1
			Annotate(&l.Images[at], &set.Images[k], split)
		}
		for _, k := range found.Missing {
			image := &set.Images[k]
			if !o.Select.WantsNamed(image.Name) {
				left++
				continue
			}
			missing = append(missing, origin.Image{Path: image.Name, Split: split, Extra: &origin.Extra{Bad: missingImage(image)}})
		}
		for _, f := range set.Faults {
			l.Loose = append(l.Loose, origin.Image{Path: faultKey(f), Extra: &origin.Extra{Bad: BadAnnotation(faultKey(f), f)}})
		}
	}
	if left > 0 {
		o.Notef("%s left out by %s and %s", plural.Of(left, "annotated image"), optname.SelectSpecInclude, optname.SelectSpecExclude)
	}
	if keepsUnannotated(o, a) && !o.Annotations.KeepUnannotated {
		noteUnlabelled(o, paths[:len(l.Images)], of)
	}
	kept := l.Images[:0]
	for i, p := range l.Images {
		if of[i] != 0 || keepsUnannotated(o, a) {
			kept = append(kept, p)
		} else {
			l.Account.Add(account.Unannotated, p.Path)
		}
	}
	if n := len(l.Images) - len(kept); n > 0 {
		l.Skipped += int64(n)
		o.Notef("%s without annotations left alone (%s keeps such images)", plural.Of(n, "image"), optname.AnnotationSpecKeepUnannotated)
	}
	if len(kept) == 0 {
		return fmt.Errorf("%s: none of the images in %s is annotated: names must be equal but for extensions", optname.AnnotationSpecFiles, l.Origin.Place())
	}
	l.Images = append(kept, missing...)
	slices.SortStableFunc(l.Images, func(a, b origin.Image) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// noteUnlabelled notes directories of images that are kept without objects where no image has labels:
// their labels may be in a directory that was not given.
func noteUnlabelled(o *options.ImageOptions, paths []string, of []int32) {
	labelled, unlabelled := map[string]bool{}, map[string]int{}
	for i, p := range paths {
		if dir := path.Dir(p); of[i] != 0 {
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
func keepsUnannotated(o *options.ImageOptions, a *Annotations) bool {
	return o.Annotations.KeepUnannotated || a.Format == "yolo" && o.Annotations.Splits() == nil
}

// Annotate adds the annotations of a file to an image.
func Annotate(p *origin.Image, image *annotation.Image, split *string) {
	extra := p.AddExtra()
	extra.Annotated = image
	if split != nil {
		p.Split = split
	}
	if image.Unreadable != "" && extra.Bad == nil {
		extra.Bad = BadAnnotation(p.Path, annotation.Fault{Source: image.Source, Reason: image.Unreadable})
	}
}

// missingImage returns the ledger entry for an annotated image without a file, or for a file that
// cannot be read and is for no image.
func missingImage(image *annotation.Image) *setdir.BadSample {
	if image.Unreadable != "" {
		return BadAnnotation(image.Name, annotation.Fault{Source: image.Source, Reason: image.Unreadable})
	}
	return &setdir.BadSample{
		Key: jsontext.Readable(image.Name), Source: jsontext.Readable(image.Source), Line: image.Line, Stage: "read",
		Reason: "annotated, and no image of this name is in the source",
	}
}

// BadAnnotation returns the ledger entry for an annotation of the image, or other sample, of a key.
func BadAnnotation(key string, f annotation.Fault) *setdir.BadSample {
	reason := f.Reason
	if f.Part != "" {
		reason = string(f.Part) + ": " + reason + "; boxes stay"
	}
	if f.Name != "" {
		reason = faultName(f) + ": " + reason
	}
	return &setdir.BadSample{
		Key: jsontext.Readable(key), Source: jsontext.Readable(f.Source), Line: f.Line,
		Stage: plan.StageAnnotation, Reason: jsontext.Readable(reason),
	}
}

// faultName returns the name of an annotation in the ledger: its id in the file, or "object 3".
func faultName(f annotation.Fault) string {
	if strings.Contains(f.Name, " ") {
		return f.Name
	}
	return "annotation " + f.Name
}

// faultKey is the key of an annotation that belongs to no image.
func faultKey(f annotation.Fault) string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d", f.Source, f.Line)
	case f.Name != "":
		return f.Source + ":" + f.Name
	}
	return cmp.Or(f.Source, f.Image)
}
