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
	// Reads are the lists that it names and that are here, relative to the source of images.
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
	var full, bare *index
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
		by := &full
		if l.Bare {
			by = &bare
		}
		if *by == nil {
			*by = newIndex(images, l.Bare)
		}
		for _, name := range l.Names {
			i, other := (*by).find(name, l.Below)
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
		prefix := path.Join(below, strings.Join(parts, "/")) + "/"
		first, _ = slices.BinarySearch(images, prefix)
		end = first
		for end < len(images) && strings.HasPrefix(images[end], prefix) {
			end++
		}
		if end > first {
			return first, end
		}
	}
	return 0, 0
}

// names are the names in a path as somebody wrote it: without "." and "..", and with either slash.
func names(written string) []string {
	parts := strings.FieldsFunc(written, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(parts, func(name string) bool { return name == "." || name == ".." })
}

// index finds images by the names of their files.
type index struct {
	images []string
	bare   bool
	first  map[string]int32 // by name
	next   []int32          // of the same name, -1 after the last
}

func newIndex(images []string, bare bool) *index {
	x := &index{images: images, bare: bare, first: make(map[string]int32, len(images)), next: make([]int32, len(images))}
	for i := len(images) - 1; i >= 0; i-- {
		base := x.base(images[i])
		x.next[i] = -1
		if other, ok := x.first[base]; ok {
			x.next[i] = other
		}
		x.first[base] = int32(i)
	}
	return x
}

// base is the name that an image is found by.
func (x *index) base(image string) string {
	base := path.Base(image)
	if x.bare {
		base = strings.TrimSuffix(base, path.Ext(base))
	}
	return base
}

// find returns the image of a name, -1 if there is none, and another that is as likely, -1 if there
// is none.
func (x *index) find(name, below string) (image, other int) {
	parts := names(name)
	image, other = -1, -1
	if len(parts) == 0 {
		return image, other
	}
	i, ok := x.first[parts[len(parts)-1]]
	if !ok {
		return image, other
	}
	most := -1
	for ; i >= 0; i = x.next[i] {
		if below != "" && !strings.HasPrefix(x.images[i], below+"/") {
			continue
		}
		switch n := common(x.images[i], parts); {
		case n > most:
			image, other, most = int(i), -1, n
		case n == most:
			other = int(i)
		}
	}
	return image, other
}

// common returns how many directories at the end of an image's path the parts of a name have, too.
func common(image string, parts []string) (n int) {
	dir := path.Dir(image)
	for i := len(parts) - 2; i >= 0 && dir != "." && path.Base(dir) == parts[i]; i-- {
		dir = path.Dir(dir)
		n++
	}
	return n
}
