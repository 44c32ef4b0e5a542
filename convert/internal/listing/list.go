package listing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/labeltable"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// List finds the images of a source with their labels and splits.
func List(ctx context.Context, o *options.ImageOptions, src origin.Place, out string) (*Listing, error) {
	if err := checkPlace(o, src); err != nil {
		return nil, err
	}
	colors, err := annotations.ReadColors(ctx, o)
	if err != nil {
		return nil, err
	}
	l := &Listing{Colors: colors}
	switch {
	case src.Tables != nil:
		err = l.listRows(ctx, o, src)
	case src.Records != nil:
		err = l.listRecords(ctx, o, src, out)
	case src.Archives != nil:
		err = l.listArchives(ctx, o, src)
	default:
		err = l.listTree(ctx, o, src, out)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// checkPlace returns an error for options that are not for a place.
func checkPlace(o *options.ImageOptions, src origin.Place) error {
	if o.ArchiveFormat != "" && o.ArchiveFormat != options.AutoFormat && src.Archives == nil {
		return plan.OptionErrorf(optname.ImageOptionsArchiveFormat, "is for archives, and %s is not one", src.At.Path())
	}
	if o.Select.ByContent && src.Directory == nil && src.Archives == nil {
		return plan.OptionErrorf(optname.SelectSpecByContent, "is for directories and archives, and %s is neither", src.At.Path())
	}
	if src.Tables != nil || src.Records != nil {
		return o.Annotations.RefuseForRecords()
	}
	return nil
}

// listTree lists the images of a directory.
func (l *Listing) listTree(ctx context.Context, o *options.ImageOptions, src origin.Place, out string) error {
	var reads []string
	if l.Colors != nil {
		reads = append(reads, l.Colors.At.Path())
	}
	found, err := walk.Tree(ctx, o, src, out, reads...)
	if err != nil {
		return err
	}
	if err := l.take(ctx, o, found); err != nil {
		return err
	}
	if err := l.joinFiles(ctx, o, src); err != nil {
		return err
	}
	return l.labelFiles(ctx, o)
}

// take takes over the images that were found. LabelSpec.File replaces them by its rows.
func (l *Listing) take(ctx context.Context, o *options.ImageOptions, found *walk.Found) error {
	l.Found = *found
	if _, rows := l.Origin.(*origin.Rows); len(o.Features) > 0 && o.Labels.File == "" && !l.WebDataset && !rows {
		return plan.OptionErrorf(optname.ImageOptionsFeatures, "is for %s, WebDatasets, and images in Parquet or Arrow files", optname.LabelSpecFile)
	}
	if a := &o.Annotations; a.MinVisibility != 0 && !a.HasObjects() && !l.Carried.MovesObjects(o) {
		return plan.OptionErrorf(optname.AnnotationSpecMinVisibility, "is for %s, and for TFRecords with objects whose images change", optname.AnnotationSpecFiles)
	}
	if o.Labels.File != "" {
		t, err := labeltable.Read(ctx, o, &l.Found)
		if err != nil {
			return err
		}
		l.table, l.Causes, l.Labels, l.Features = t, t.Causes, t.Names, t.Features
		used, err := l.splitting(o).takeSplitColumns(&t.Splits, t.File)
		if err != nil {
			return err
		}
		if used {
			t.RejectUnsplit(l.Images)
		}
	}
	l.accountForLeft(func(f *walk.LeftFile) bool { return f.MayBeRead() })
	l.noteLeft(o)
	return nil
}

// joinFiles adds masks, annotations and splits to images that are files.
func (l *Listing) joinFiles(ctx context.Context, o *options.ImageOptions, src origin.Place) error {
	if len(l.Images) == 0 {
		l.accountForLeft(nil)
		want := strings.Join(imagetree.Extensions, " ")
		if len(o.Select.Include)+len(o.Select.Exclude) > 0 {
			want += fmt.Sprintf(", and selected by %s and %s", optname.SelectSpecInclude, optname.SelectSpecExclude)
		}
		return fmt.Errorf("no images in %s (%s): want files named %s; archives, TFRecords, Parquet and Arrow files are named themselves, or by a quoted glob", src.At.Path(), otherContents(&l.Found), want)
	}
	if o.Annotations.HasMasks() {
		if err := l.addMasks(ctx, o); err != nil {
			return err
		}
	}
	if o.Annotations.HasObjects() {
		if err := l.takeAnnotated(ctx, o); err != nil {
			return err
		}
	}
	if err := l.splitting(o).stateSplits(ctx); err != nil {
		return err
	}
	read := l.filesRead()
	l.Left = slices.DeleteFunc(l.Left, func(f walk.LeftFile) bool { return read[f.Path] })
	l.accountForLeft(nil)
	return nil
}

// filesRead returns the files of a directory, relative to it, that lists of splits and annotations
// were read from.
func (l *Listing) filesRead() map[string]bool {
	read := map[string]bool{}
	tree, ok := l.Origin.(*origin.Tree)
	if !ok {
		return read
	}
	paths := slices.Clone(tree.Lists)
	if l.Annotations != nil {
		for _, set := range l.Annotations.Sets {
			paths = append(paths, set.Beside...)
		}
	}
	for _, p := range paths {
		if rel, ok := origin.Below(tree.Root, storage.Parse(p)); ok {
			read[rel] = true
		}
	}
	return read
}

// accountForLeft adds the files to the account that are not samples, but for those that are to wait.
func (l *Listing) accountForLeft(waits func(f *walk.LeftFile) bool) {
	waiting := l.Left[:0]
	for _, f := range l.Left {
		if waits != nil && waits(&f) {
			waiting = append(waiting, f)
		} else {
			l.Account.Add(f.Reason, f.Path)
		}
	}
	l.Left = waiting
}

// labelFiles gives images that are files their labels: the names of directories, unless options name
// others. Images with annotations have none.
func (l *Listing) labelFiles(ctx context.Context, o *options.ImageOptions) error {
	if l.Annotations != nil {
		return nil
	}
	if o.Labels.File == "" && !o.Labels.None {
		if err := l.labelsFromDirectories(o); err != nil {
			return err
		}
		l.noteSingleClass(o)
	}
	l.noteMasks(o)
	return l.number(ctx, o, nil)
}
