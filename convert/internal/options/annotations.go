package options

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard"
)

// AnnotationSpec names the files that describe the contents of images: objects with boxes and
// regions, or a class for each pixel. Records then have the features of TensorFlow's Object
// Detection API and of DeepLab.
type AnnotationSpec struct {
	// Files have the objects of the images: all of them of one format. Records then have lists of
	// objects, in place of the labels that LabelSpec gives; LabelSpec.Classes gives the order of
	// ids, from 1. Default: none.
	Files []AnnotationFile
	// Format of Files: "coco", "csv", "voc", "yolo", "kitti", "labelme" or "auto", what they look
	// like.
	// Default: auto.
	Format string
	// InstanceMasks stores the region of each object, as a PNG of the size of the stored image with
	// one channel: 1 for the object, and 0. An object without a region is unusable.
	InstanceMasks bool
	// MinVisibility drops objects of which cropping and the like leave less than this share of the
	// area of their box, 0 to 1. Objects of which nothing is left are always dropped. It is also for
	// TFRecords with objects, if their images are stored in another encoding than Keep.
	MinVisibility float64
	// DropEmpty leaves out records without objects.
	DropEmpty bool
	// KeepUnannotated keeps images that Files do not list, as images without objects. Default: they
	// count as skipped files, except for YOLO, where an image without objects has no file.
	KeepUnannotated bool

	// Masks is a directory with a mask for each image, of the same name but for the extension: a
	// PNG, grayscale with up to 8 bits a sample or with a palette, whose samples are the classes of
	// pixels; or RGB with 8 bits a sample and no transparency, if labelmap.txt, as CVAT writes it, is
	// in the directory or next to it: the class of a colour is then the number of its line, from 0,
	// comments left out. Records then have a mask of the size of the stored image. Default: none.
	Masks string
	// MaskFill is the class of pixels of Masks that are outside of the image. Default: 255.
	MaskFill *uint8
}

// AnnotationFile is a file of annotations, or a directory of them.
type AnnotationFile struct {
	// Path of the file or directory; or a URL.
	Path string
	// Split is the split of the images that it annotates. Either all files have one, or none.
	// Default: splits are assigned as without annotations.
	Split string
}

// ParseAnnotationFile parses "PATH" or "SPLIT=PATH". In a path with "=", write "./PATH".
func ParseAnnotationFile(s string) (AnnotationFile, error) {
	f := AnnotationFile{Path: s}
	if split, path, ok := strings.Cut(s, "="); ok && shard.CheckSplit(split) == nil {
		f = AnnotationFile{Path: path, Split: split}
	}
	if f.Path == "" {
		return f, fmt.Errorf("%q: want a file or a directory, or SPLIT=PATH", s)
	}
	return f, nil
}

// annotationFormats are the formats of AnnotationSpec.Files.
var annotationFormats = []string{"auto", "coco", "csv", "voc", "yolo", "kitti", "labelme"}

// HasObjects reports whether records have lists of objects.
func (a *AnnotationSpec) HasObjects() bool { return len(a.Files) > 0 }

// HasMasks reports whether records have a mask of classes.
func (a *AnnotationSpec) HasMasks() bool { return a.Masks != "" }

// FillClass returns the class of pixels outside of the image.
func (a *AnnotationSpec) FillClass() uint8 {
	if a.MaskFill == nil {
		return 255
	}
	return *a.MaskFill
}

// Splits returns the splits that Files name, sorted; nil if they name none.
func (a *AnnotationSpec) Splits() []string {
	var splits []string
	for _, f := range a.Files {
		if f.Split != "" && !slices.Contains(splits, f.Split) {
			splits = append(splits, f.Split)
		}
	}
	slices.Sort(splits)
	return splits
}

// Check returns an error for invalid fields.
func (a *AnnotationSpec) Check() error {
	for _, f := range a.Files {
		switch {
		case f.Path == "":
			return plan.OptionErrorf(optname.AnnotationSpecFiles, "a path is empty")
		case (f.Split == "") != (a.Files[0].Split == ""):
			return plan.OptionErrorf(optname.AnnotationSpecFiles, "%s and %s: give a split for each, or for none", a.Files[0].Path, f.Path)
		case f.Split != "" && shard.CheckSplit(f.Split) != nil:
			return plan.OptionErrorf(optname.AnnotationSpecFiles, "%v", shard.CheckSplit(f.Split))
		}
	}
	if !a.HasObjects() {
		switch {
		case a.Format != "" && a.Format != "auto":
			return plan.OptionErrorf(optname.AnnotationSpecFormat, "is for %s", optname.AnnotationSpecFiles)
		case a.InstanceMasks:
			return plan.OptionErrorf(optname.AnnotationSpecInstanceMasks, "is for %s", optname.AnnotationSpecFiles)
		case a.DropEmpty:
			return plan.OptionErrorf(optname.AnnotationSpecDropEmpty, "is for %s", optname.AnnotationSpecFiles)
		case a.KeepUnannotated:
			return plan.OptionErrorf(optname.AnnotationSpecKeepUnannotated, "is for %s", optname.AnnotationSpecFiles)
		}
	}
	switch {
	case a.Format != "" && !slices.Contains(annotationFormats, a.Format):
		return plan.OptionErrorf(optname.AnnotationSpecFormat, "%q: want %s", a.Format, strings.Join(annotationFormats, ", "))
	case !(a.MinVisibility >= 0 && a.MinVisibility <= 1):
		return plan.OptionErrorf(optname.AnnotationSpecMinVisibility, "%g is not between 0 and 1", a.MinVisibility)
	case a.KeepUnannotated && a.DropEmpty:
		return plan.OptionErrorf(optname.AnnotationSpecKeepUnannotated, "cannot be combined with %s, which would leave these images out again", optname.AnnotationSpecDropEmpty)
	case a.KeepUnannotated && a.Splits() != nil:
		return plan.OptionErrorf(optname.AnnotationSpecKeepUnannotated, "images that no file lists have no split: leave the splits of %s out", optname.AnnotationSpecFiles)
	case a.MaskFill != nil && !a.HasMasks():
		return plan.OptionErrorf(optname.AnnotationSpecMaskFill, "is for %s", optname.AnnotationSpecMasks)
	}
	return nil
}

// checkAnnotations returns an error for invalid annotations, and for options that contradict them.
// Objects take the place of labels.
func (o *ImageOptions) checkAnnotations() error {
	a := &o.Annotations
	if err := a.Check(); err != nil || !a.HasObjects() {
		return err
	}
	switch l := &o.Labels; {
	case l.File != "":
		return plan.OptionErrorf(optname.LabelSpecFile, "cannot be combined with %s, which say which images are used and what is on them", optname.AnnotationSpecFiles)
	case l.Offset != 0:
		return plan.OptionErrorf(optname.LabelSpecOffset, "is for labels of images: ids of objects are those of %s, or from 1", optname.AnnotationSpecFiles)
	case len(o.Splits) > 0 && a.Splits() != nil:
		return plan.OptionErrorf(optname.OptionsSplits, "cannot be combined with the splits of %s", optname.AnnotationSpecFiles)
	}
	if o.ArchiveFormat == WebDataset {
		return plan.OptionErrorf(optname.ImageOptionsArchiveFormat, "webdataset cannot be combined with %s", optname.AnnotationSpecFiles)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Rename)) {
		if strings.HasPrefix(key, "image/object/") {
			return plan.OptionErrorf(optname.ImageOptionsRename, "%s: the lists of objects keep their names, by which they are known as such", key)
		}
	}
	o.Labels.None = true
	return nil
}

// RefuseForRecords returns an error for a source of records or tables, whose images have other
// names than files do, if there are annotations.
func (a *AnnotationSpec) RefuseForRecords() error {
	const advice = "is for images in files: convert those that the source was made from"
	switch {
	case a.HasObjects():
		return plan.OptionErrorf(optname.AnnotationSpecFiles, advice)
	case a.HasMasks():
		return plan.OptionErrorf(optname.AnnotationSpecMasks, advice)
	}
	return nil
}
