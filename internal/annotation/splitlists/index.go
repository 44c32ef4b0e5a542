package splitlists

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

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

// names returns the names in a path as it is written: without "." and "..", and with either slash.
func names(written string) []string {
	parts := strings.FieldsFunc(written, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(parts, func(name string) bool { return name == "." || name == ".." })
}

// index finds images by the ends of their paths. Many images may have one name, in different
// directories, such as the frames of videos: paths are sorted from their ends, so that a binary
// search for a path leads to the images that have most names in common with it.
type index struct {
	first  int      // of the images that it has
	images []string // without extensions, if names have none
	order  []int32  // of images
}

// indexKey selects the images of an index: those below a directory, "" for all, with or without
// extensions.
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
