package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/safename"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// errUnlabelled has the remedies for images without a label.
var errUnlabelled = optname.Errorf("put it into a class directory, leave it out with %s, label it with %s, or give %s",
	optname.SelectSpecExclude, optname.LabelSpecFile, optname.LabelSpecNone)

// labelsFromDirectories uses the first directory below the split as the label: what it was named
// after, if an export named it.
func (l *Listing) labelsFromDirectories(o *options.ImageOptions) error {
	last, dir, renamed := new(string), "", ""
	for i := range l.Images {
		p := &l.Images[i]
		if p.Bad() != nil {
			continue // its path does not tell
		}
		label, _, ok := strings.Cut(l.belowSplit(p.Path), "/")
		if !ok {
			return fmt.Errorf("%s is in no class directory, so it has no label: %w%s", jsontext.Readable(p.Path), errUnlabelled, perhapsLabels(&l.Found))
		}
		if label != dir {
			dir = label
			name := label
			if original, ok := safename.Original(dir); ok && original != "" {
				if name = original; renamed == "" {
					renamed = fmt.Sprintf("%s is the label %s", jsontext.Readable(dir), jsontext.Readable(name))
				}
			}
			last = &name
		}
		p.Label = last
	}
	if renamed != "" {
		o.Notef("directories are named as an export names them, with %%XX for what not every system takes: %s", renamed)
	}
	return nil
}

// perhapsLabels names a file or directory of a directory tree that may have labels or annotations, with
// the option that reads it, to follow an error; "" if nothing has one of the usual names.
func perhapsLabels(found *walk.Found) string {
	tree, ok := found.Origin.(*origin.Tree)
	if !ok {
		return "" // options cannot name members of archives
	}
	at := func(name string) string { return storage.Join(tree.Root.Path(), name) }
	for _, dir := range found.Directories {
		if base := strings.ToLower(path.Base(dir)); slices.Contains(annotationDirs, base) {
			return fmt.Sprintf("; if %s has what is on the images, name it with %s", jsontext.Readable(at(dir)), optname.AnnotationSpecFiles)
		}
	}
	for _, e := range found.Account.Entries() {
		for _, name := range e.Names {
			option := optname.AnnotationSpecFiles
			switch base := strings.ToLower(path.Base(name)); {
			case e.Reason != account.Labels:
				continue
			case path.Ext(base) == ".json", base == "_annotations.csv":
			case path.Ext(base) == ".csv":
				option = optname.LabelSpecFile
			default:
				continue
			}
			return fmt.Sprintf("; if %s says what is on the images, name it with %s", at(name), option)
		}
	}
	return ""
}

// noteSingleClass warns if the only class directory has directories and no images: src is then
// likely the parent of the intended source.
func (l *Listing) noteSingleClass(o *options.ImageOptions) {
	if l.above > 0 {
		l.noteImagesInSplits(o)
		return
	}
	var class string
	below := map[string]bool{}
	splits := true // all directories in it have split names
	parts := false // directories of one class, not classes: images and their masks
	for i := range l.Images {
		if l.Images[i].Bad() != nil {
			continue
		}
		first, rest, _ := strings.Cut(l.Images[i].Path, "/")
		if class == "" {
			class = first
		}
		dir, _, ok := strings.Cut(rest, "/")
		if first != class || !ok {
			return
		}
		below[dir] = true
		splits = splits && imagetree.Split(dir) != ""
		parts = parts || imagetree.HoldsImages(dir) || slices.Contains(maskDirs, strings.ToLower(dir))
	}
	names := slices.Sorted(maps.Keys(below))
	for i, name := range names {
		names[i] = jsontext.Readable(name)
	}
	held := strings.Join(names[:min(3, len(names))], ", ")
	if n := len(names) - 3; n > 0 {
		held += fmt.Sprintf(" and %d more", n)
	}
	enter := l.Origin.Enter(class)
	switch {
	case class == "", parts, len(names) == 1 && !splits: // no image can be used, or this is usual
	case splits:
		o.Notef("%s is taken as the only class, but it holds split directories (%s): to use them, %s", jsontext.Readable(class), held, enter)
	default:
		o.Notef("%s is taken as the only class: if the directories in it (%s) are the classes, %s", jsontext.Readable(class), held, enter)
	}
}

// noteImagesInSplits warns if the only class below directories of splits has the name of a directory of
// images, and has directories itself.
func (l *Listing) noteImagesInSplits(o *options.ImageOptions) {
	class, example := "", ""
	for i := range l.Images {
		if l.Images[i].Bad() != nil {
			continue
		}
		first, rest, _ := strings.Cut(l.belowSplit(l.Images[i].Path), "/")
		dir, _, ok := strings.Cut(rest, "/")
		if class = cmp.Or(class, first); first != class || !ok || !imagetree.HoldsImages(first) {
			return
		}
		example = cmp.Or(example, dir)
	}
	if class != "" {
		o.Notef("%s is the class of all images: if the directories in it, such as %s, are the classes, move these into the directories of splits, or label the images with %s",
			jsontext.Readable(class), jsontext.Readable(example), optname.LabelSpecFile)
	}
}

// Usual names, in lower case, of directories with the annotations or masks of images.
var (
	annotationDirs = []string{"annotation", "annotations", "label", "labels"}
	maskDirs       = append([]string{
		"bbox", "bboxes", "gt", "mask", "masks", "segmentation", "segmentations", "segmentationclass", "segmentationobject",
	}, annotationDirs...)
)

// noteMasks warns about directories of images and of their masks or annotations that are used as
// classes.
func (l *Listing) noteMasks(o *options.ImageOptions) {
	if o.Labels.File != "" {
		return
	}
	var images, masks string
	used := map[string]bool{} // class directories that have images
	for i := range l.Images {
		if l.Images[i].Bad() != nil {
			continue
		}
		class, _, ok := strings.Cut(l.belowSplit(l.Images[i].Path), "/")
		if !ok {
			return
		}
		used[class] = true
	}
	for _, dir := range l.Directories {
		class, below, _ := strings.Cut(l.belowSplit(dir), "/")
		switch name := strings.ToLower(class); {
		case below != "":
		case imagetree.HoldsImages(name) && used[class]:
			images = class
		case slices.Contains(maskDirs, name):
			if masks == "" || used[class] && !used[masks] {
				masks = class
			}
		case used[class]:
			return // these are classes
		}
	}
	switch {
	case images == "" || masks == "":
	case used[masks] && o.Labels.None:
		o.Notef("the images in %s become samples, too: if they are masks of those in %s, leave them out with %s '**/%s/**'", masks, images, optname.SelectSpecExclude, masks)
	case used[masks]:
		o.Notef("%s and %s are taken as classes: if %s holds masks of the images in %s, leave it out with %s '**/%s/**', and give %s or %s", images, masks, masks, images, optname.SelectSpecExclude, masks, optname.LabelSpecNone, optname.LabelSpecFile)
	case !o.Labels.None:
		hint := fmt.Sprintf("%s for masks", optname.AnnotationSpecMasks)
		if slices.Contains(annotationDirs, strings.ToLower(masks)) {
			hint = fmt.Sprintf("%s for what is on the images", optname.AnnotationSpecFiles)
		}
		o.Notef("%s is taken as a class, and %s is not read: give %s, %s, or %s for labels", images, masks, hint, optname.LabelSpecNone, optname.LabelSpecFile)
	}
}

// number assigns each label its id, after the background names: see numberLabels. Stated is a list
// of the names of ids in the source, which LabelSpec.Classes replaces; nil without.
func (l *Listing) number(ctx context.Context, o *options.ImageOptions, stated *classfile.List) error {
	by := plan.Numbering{
		Directories: l.Labels == nil, List: stated, Offset: o.Labels.Offset,
		ListOption: optname.LabelSpecClasses, OffsetOption: optname.LabelSpecOffset,
	}
	seen := l.Labels // each once
	if by.Directories {
		seen = labelsOf(l.Images)
	}
	if o.Labels.Classes != "" {
		var err error
		if by.List, err = classfile.Read(ctx, o.Labels.Classes); err != nil {
			return fmt.Errorf("%s: %w", optname.LabelSpecClasses, err)
		}
	}
	if l.table != nil && l.table.Text {
		seen = o.WithoutMissing(seen, "")
	}
	n, err := o.NumberLabels(seen, by)
	if err != nil {
		return l.located(o, err)
	}
	if slices.Contains(n.IDs, labels.Unlabelled) && n.Names != nil && (o.Augment.Mixes() || o.Labels.Several()) {
		return fmt.Errorf("a label is %d, which stands for none: an image in a mixture, and in lists of labels, has a label", labels.Unlabelled)
	}
	l.use(o, seen, n)
	return nil
}

// located adds to an error of numberLabels the option that it is about, and an image.
func (l *Listing) located(o *options.ImageOptions, err error) error {
	var option *shard.OptionError
	if errors.As(err, &option) {
		return err
	}
	var id *classfile.IDError
	if errors.As(err, &id) {
		for i := range l.Images {
			if digits, _, ok := labels.Integer(l.Images[i].LabelName()); ok && digits == id.Digits {
				err = fmt.Errorf("the label of %s: %w", jsontext.Readable(l.Images[i].Path), err)
				break
			}
		}
	}
	if o.Labels.Classes == "" {
		return fmt.Errorf("%w; %s gives other names", err, optname.LabelSpecClasses)
	}
	return fmt.Errorf("%s: %w", optname.LabelSpecClasses, err)
}

// labelsOf returns the labels of images, each once.
func labelsOf(images []origin.Image) []string {
	known := map[string]bool{}
	var seen []string
	var last *string
	for i := range images {
		if label := images[i].Label; label != nil && label != last {
			if last = label; !known[*label] {
				known[*label] = true
				seen = append(seen, *label)
			}
		}
	}
	return seen
}

// use gives the images the ids of their labels, each of which is among seen unless it is missing.
func (l *Listing) use(o *options.ImageOptions, seen []string, n *plan.LabelIDs) {
	named := n.Names != nil || !n.Integers
	l.Labels, l.Synsets = n.Names, n.Synsets
	if !named {
		l.Values, l.Texts = n.IDs, n.Digits
	}
	ids := make(map[string]int32, len(seen)) // as origin.Image has them
	for i, label := range seen {
		switch id := n.IDs[i]; {
		case !named:
			ids[label] = int32(i)
		case id == labels.Unlabelled:
			ids[label] = labels.Unlabelled
		default:
			ids[label] = int32(id) + int32(o.Labels.Offset)
		}
	}
	for i := range l.Images {
		p := &l.Images[i]
		if row := p.Row(); row != nil && row.Labels != nil {
			row.Labels = l.table.IDs(row.Labels, ids)
		}
		if p.Label == nil {
			if !named {
				p.ID = labels.Unlabelled // of an image that cannot be used, or has a list of labels
			}
			continue
		}
		id, ok := ids[*p.Label]
		switch {
		case !ok:
			p.AddExtra().Bad = l.table.Missing(p)
			p.Label = nil
			continue
		case n.Integers && !named:
			p.Label = &l.Texts[id]
		case id == labels.Unlabelled:
			p.Label = nil
		case n.Synsets != nil:
			p.Label = &l.Synsets[int(id)-o.Labels.Offset]
		default:
			p.Label = &l.Labels[int(id)-o.Labels.Offset]
		}
		p.ID = id
	}
	l.table = nil
}
