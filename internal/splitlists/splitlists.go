// Package splitlists reads the files by which data sets of images state their splits:
//
//   - data.yaml of Ultralytics and Roboflow: its train, val and test are directories, files with a
//     path on each line, or lists of these;
//   - Darknet's and CVAT's lists: train.txt, valid.txt or the like with a path on each line, and
//     FILE.data, which names such files;
//   - ImageSets/Main/SPLIT.txt of Pascal VOC, with a name without extension on each line, or else
//     those in ImageSets/Segmentation, ImageSets/Layout or ImageSets.
//
// Paths in them were written for other machines, so they are matched by their ends.
//
//	lists, err := splitlists.Read(ctx, root, files)
//	a, err := splitlists.Assign(lists, paths)
package splitlists

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// List says which images are of a split.
type List struct {
	Split string
	// Source is the file that says so, relative to the source of images, and File its path.
	Source, File string
	// Reads are the files that Source names and that exist, relative to the source of images.
	Reads []string
	// Directories have images of the split, in them or below, and Names are images, as they are
	// written. Bare says that Names lack the extension.
	Directories, Names []string
	Bare               bool
	// Below is the directory of the source that the images are in: "" for all.
	Below string
}

// Assignment says which list has each image.
type Assignment struct {
	Of     []int32 // by image, the index of its list, -1 for none
	Images []int   // by list, how many images it has
	// Unmatched are, by list, the names and directories of no image, the first of them.
	Unmatched      []int
	FirstUnmatched []string
}

// Split returns the split of image i, and the file that states it; "" if none does.
func (a *Assignment) Split(lists []List, i int) (split, source string) {
	if k := a.Of[i]; k >= 0 {
		return lists[k].Split, lists[k].Source
	}
	return "", ""
}

// Assign finds the images of lists. Images are paths with slashes, sorted. A name is of the image
// with whose path it has most names in common at the end: the whole name of the file at least. It is
// an error if that is not one image, or if two lists have an image for different splits.
func Assign(lists []List, images []string) (*Assignment, error) {
	a := &Assignment{
		Of: make([]int32, len(images)), Images: make([]int, len(lists)),
		Unmatched: make([]int, len(lists)), FirstUnmatched: make([]string, len(lists)),
	}
	for i := range a.Of {
		a.Of[i] = -1
	}
	indexes := map[indexKey]*index{}
	for k := range lists {
		l := &lists[k]
		for _, dir := range l.Directories {
			first, end := within(images, dir, l.Below)
			if first == end {
				a.unmatched(k, dir)
			}
			for i := first; i < end; i++ {
				if err := a.put(lists, k, i, images[i]); err != nil {
					return nil, err
				}
			}
		}
		if len(l.Names) == 0 {
			continue
		}
		key := indexKey{l.Below, l.Bare}
		by := indexes[key]
		if by == nil {
			by = newIndex(images, key)
			indexes[key] = by
		}
		for _, name := range l.Names {
			i, other := by.find(name)
			switch {
			case i < 0:
				a.unmatched(k, name)
				continue
			case other >= 0:
				return nil, fmt.Errorf("%s: %q may be %s and %s", l.Source, name, images[i], images[other])
			}
			if err := a.put(lists, k, i, images[i]); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// put assigns an image to a list.
func (a *Assignment) put(lists []List, k, i int, image string) error {
	if before := a.Of[i]; before >= 0 {
		if b := &lists[before]; b.Split != lists[k].Split {
			return fmt.Errorf("%s is in the split %s by %s, and in %s by %s", image, b.Split, b.Source, lists[k].Split, lists[k].Source)
		}
		return nil
	}
	a.Of[i] = int32(k)
	a.Images[k]++
	return nil
}

func (a *Assignment) unmatched(k int, name string) {
	if a.Unmatched[k]++; a.Unmatched[k] == 1 {
		a.FirstUnmatched[k] = name
	}
}

// within returns the images in the directory that has most names at the end in common with dir, as
// first up to end; none if no directory has the last one.
func within(images []string, dir, below string) (first, end int) {
	parts := names(dir)
	for ; len(parts) > 0; parts = parts[1:] {
		if first, end = in(images, path.Join(below, strings.Join(parts, "/"))); end > first {
			return first, end
		}
	}
	return 0, 0
}

// in returns the images in a directory or below, as first up to end.
func in(images []string, dir string) (first, end int) {
	if dir == "" {
		return 0, len(images)
	}
	first, _ = slices.BinarySearch(images, dir+"/")
	n, _ := slices.BinarySearchFunc(images[first:], dir+"/", func(image, prefix string) int {
		if strings.HasPrefix(image, prefix) {
			return -1
		}
		return 1
	})
	return first, first + n
}

// names are the names in a path as somebody wrote it: without "." and "..", and with either slash.
func names(written string) []string {
	parts := strings.FieldsFunc(written, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(parts, func(name string) bool { return name == "." || name == ".." })
}

// index finds images by the ends of their paths. Many images may have one name, in different
// directories, such as the frames of videos: paths are sorted from their ends, so that those that have
// most names in common with another path stand where that would.
type index struct {
	first  int      // of the images that it has
	images []string // without extensions, if names lack them
	order  []int32  // of images
}

// indexKey says what an index has: the images below a directory, "" for all, with or without extensions.
type indexKey struct {
	below string
	bare  bool
}

func newIndex(images []string, key indexKey) *index {
	first, end := in(images, key.below)
	x := &index{first: first, images: images[first:end], order: make([]int32, end-first)}
	if key.bare {
		x.images = slices.Clone(x.images)
		for i, image := range x.images {
			x.images[i] = strings.TrimSuffix(image, path.Ext(image))
		}
	}
	for i := range x.order {
		x.order[i] = int32(i)
	}
	slices.SortFunc(x.order, func(i, j int32) int { return compareEnds(x.images[i], x.images[j]) })
	return x
}

// find returns the image of a name, -1 if there is none, and another that is as likely, -1 if there
// is none.
func (x *index) find(name string) (image, other int) {
	name = strings.Join(names(name), "/")
	at, _ := slices.BinarySearchFunc(x.order, name, func(i int32, name string) int { return compareEnds(x.images[i], name) })
	like := func(k int) int {
		if k < 0 || k >= len(x.order) {
			return 0
		}
		return common(x.images[x.order[k]], name)
	}
	most := max(like(at-1), like(at))
	if most == 0 {
		return -1, -1
	}
	first, end := at, at
	for like(first-1) == most {
		first--
	}
	for like(end) == most {
		end++
	}
	alike := x.order[first:end]
	if image = x.first + int(slices.Min(alike)); len(alike) == 1 {
		return image, -1
	}
	return image, x.first + int(slices.Max(alike))
}

// compareEnds compares paths byte by byte from their ends, as if all began with a slash.
func compareEnds(a, b string) int {
	for i, j := len(a)-1, len(b)-1; ; i, j = i-1, j-1 {
		x, y := byteAt(a, i), byteAt(b, j)
		switch {
		case x != y:
			return cmp.Compare(x, y)
		case i < 0 || j < 0:
			return cmp.Compare(i, j)
		}
	}
}

// common returns how many names two paths have in common at their ends.
func common(a, b string) (n int) {
	for i, j := len(a)-1, len(b)-1; ; i, j = i-1, j-1 {
		x := byteAt(a, i)
		if x != byteAt(b, j) {
			return n
		}
		if x == '/' {
			n++
		}
		if i < 0 || j < 0 {
			return n
		}
	}
}

// byteAt returns the byte of a path at i, and the slash that it is taken to begin with at -1.
func byteAt(p string, i int) byte {
	if i < 0 {
		return '/'
	}
	return p[i]
}
