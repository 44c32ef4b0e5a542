// Package yolo reads YOLO's labels: a directory with a .txt file for each image, an object a line,
// and a list of classes.
package yolo

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
)

const (
	maxFile = 16 << 20
	memory  = 6 // for each byte of a file: a line of many numbers takes the most
)

// Read reads the .txt files of a directory, local or in a store, and its subdirectories; only those
// in directories named labels, if there are any.
//
// A line is "class x y width height", with the centre of the box in shares of the image's size, and
// perhaps a confidence, which is left out; or "class x1 y1 x2 y2 x3 y3 ...", a polygon in shares,
// whose extent is the box. Lines that cannot be used are faults. An empty file is an image without
// objects.
//
// With kpt_shape: [K, D] in data.yaml, a line is "class x y width height" and K points, each of
// which is x and y in shares and, if D is 3, its visibility: 0, 1 or 2. If D is 2, a point is
// visible, unless it is 0, 0 or has a negative coordinate: it is then not labelled. A line of a box
// alone has no points. flip_idx maps each point to its counterpart in a mirror image, and kpt_names
// are the names of the points, if they are the same for all classes.
//
// The classes come from the files that [annotation.Directory.ClassLists] finds, with ids from 1 in
// the order of the file, or without a file from Options.Classes. It is an error if there are none,
// or if files differ.
//
// Lists of images, such as Darknet's train.txt, are left out, and so is an empty file next to them
// that is named after a split, such as test.txt.
func Read(ctx context.Context, dir string, o annotation.Options) (*annotation.Set, error) {
	d, err := annotation.List(ctx, dir, func(base string) bool { return annotation.HasExt(base, ".txt") || annotation.IsClassFile(base) })
	if err != nil {
		return nil, err
	}
	l, err := readClasses(ctx, d, o.Classes)
	if err != nil {
		return nil, err
	}
	d.Files = slices.DeleteFunc(d.Files, func(f annotation.File) bool { return annotation.IsClassFile(path.Base(f.Name)) })
	p := parser{classes: len(l.classes), pose: l.pose, regions: o.Regions}
	f := annotation.Format{Name: "yolo", Ext: ".txt", Limit: maxFile, Memory: memory, Parse: p.parse}
	s, err := f.ReadFiles(ctx, d, o)
	if err != nil {
		return nil, err
	}
	dropLists(s)
	s.Beside = l.files
	s.Classes, s.Keypoints = annotation.ClassesOf(l.classes), l.pose.Keypoints
	names := annotation.Fields{}
	names.Count("kpt_names", l.pose.unusedNames)
	p.unused.Merge(names)
	s.Unused = p.unused.All()
	return s, nil
}

// splits are the names of lists of images, of which one may be empty.
var splits = []string{"train", "trainval", "val", "valid", "validation", "test"}

// dropLists removes lists of images, including empty ones.
func dropLists(s *annotation.Set) {
	lists := map[string]bool{} // directories with one
	for _, im := range s.Images {
		if im.Unreadable == listOfImages {
			lists[path.Dir(im.Source)] = true
		}
	}
	s.Images = slices.DeleteFunc(s.Images, func(im annotation.Image) bool {
		base := strings.ToLower(path.Base(im.Source))
		empty := im.Unreadable == "" && len(im.Objects)+len(im.Faults) == 0
		return im.Unreadable == listOfImages || empty && lists[path.Dir(im.Source)] && slices.Contains(splits, strings.TrimSuffix(base, ".txt"))
	})
}
