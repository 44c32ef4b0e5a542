package conversion

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
)

// AddObjectFlags adds the flags about the objects on images, and what is done with them: "store".
func AddObjectFlags(fs *pflag.FlagSet, a *convert.AnnotationSpec, do string) {
	fs.Var(&annotationFiles{a}, "annotations", do+" the objects that the file or directory `[SPLIT=]PATH` draws on images (repeatable)")
	cli.WordVar(fs, &a.Format, "annotation-format", "auto", "NAME", "format of --annotations: coco, csv, voc, yolo, kitti, labelme or auto (what it looks like)",
		"auto", "coco", "csv", "voc", "yolo", "kitti", "labelme")
	fs.BoolVar(&a.InstanceMasks, "instance-masks", false, do+" a mask of each object of --annotations")
	fs.Float64Var(&a.MinVisibility, "min-visibility", 0, "drop objects of which less than this `SHARE` of their box is left, 0 to 1")
}

// addAnnotationFlags adds the flags about what is drawn on images.
func addAnnotationFlags(fs *pflag.FlagSet, a *convert.AnnotationSpec) {
	AddObjectFlags(fs, a, "store")
	fs.BoolVar(&a.DropEmpty, "drop-empty", false, "leave out records without objects")
	fs.BoolVar(&a.KeepUnannotated, "keep-unannotated", false, "keep images that --annotations does not list, without objects")
	fs.StringVar(&a.Masks, "masks", "", "store the mask of each image in `DIR`: a PNG of the same name whose samples are classes, or in the colours of CVAT's labelmap.txt")
	cli.TextVar(fs, "mask-fill", "255", "CLASS", "class of pixels outside of the image in --masks, 0 to 255", func(s string) error {
		n, err := strconv.ParseUint(s, 10, 8)
		if err != nil {
			return errors.New("want a number from 0 to 255")
		}
		fill := uint8(n)
		a.MaskFill = &fill
		return nil
	})
}

// annotationFiles is the value of --annotations.
type annotationFiles struct{ *convert.AnnotationSpec }

func (a *annotationFiles) String() string {
	if a.AnnotationSpec == nil { // of a zero value, which pflag makes
		return ""
	}
	var files []string
	for _, f := range a.Files {
		if f.Split != "" {
			f.Path = f.Split + "=" + f.Path
		}
		files = append(files, f.Path)
	}
	return strings.Join(files, ",")
}

func (a *annotationFiles) Type() string { return "[SPLIT=]PATH" }

func (a *annotationFiles) Set(s string) error {
	f, err := convert.ParseAnnotationFile(s)
	if err == nil {
		a.Files = append(a.Files, f)
	}
	return err
}
