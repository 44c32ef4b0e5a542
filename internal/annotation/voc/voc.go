// Package voc reads Pascal VOC's annotations: a directory with an XML file for each image.
package voc

import (
	"context"
	"path"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
)

const (
	maxFile = 16 << 20
	memory  = 32 // for each byte of a file: an element of many attributes takes the most
)

// Read reads the .xml files of a directory, local or in a store, and its subdirectories.
//
// An image has the name of its file, with the extension of the <filename> in it. Boxes are kept
// unchanged: nothing is subtracted. An object without a name or a box that has an area is a fault.
// Files that cannot be read as XML, or have a DOCTYPE, are unreadable images; see docs/security.md
// for the limits. Classes are sorted by name, as bytes.
//
// With o.Regions, objects have the pixels with their index in the PNG of the same name in
// SegmentationObject, next to a directory Annotations: 1 for the first object of the XML, also if
// others cannot be used. 0 is the background, and 255 void. An object without pixels is a fault. A
// PNG that cannot be read makes its image unreadable; no PNG at all is an error.
func Read(ctx context.Context, dir string, o annotation.Options) (*annotation.Set, error) {
	var names annotation.Names
	set, err := names.Read(ctx, annotation.Format{Name: "voc", Ext: ".xml", Limit: maxFile, Memory: memory, Parse: func(im *annotation.Image, data []byte) error {
		return parse(im, data, &names)
	}}, dir, o)
	if err == nil && o.Regions {
		err = addMasks(ctx, set, dir, o)
	}
	return set, err
}

// withExt is an annotation's name with the extension of its image, if that has one.
func withExt(name, image string) string {
	if ext := path.Ext(image); len(ext) > 1 && !strings.ContainsAny(ext, " \\") {
		return strings.TrimSuffix(name, path.Ext(name)) + ext
	}
	return name
}
