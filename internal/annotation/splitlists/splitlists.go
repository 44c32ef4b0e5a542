// Package splitlists reads the files by which data sets of images state their splits:
//
//   - data.yaml of Ultralytics and Roboflow: its train, val and test are directories, files with a
//     path on each line, or lists of these; other splits are directories of their names;
//   - Darknet's, CVAT's and others' lists: train.txt, valid.txt or the like with a path on each line,
//     also in a directory without images, and FILE.data, which names such files;
//   - ImageSets/Main/SPLIT.txt of Pascal VOC, with a name on each line, and those in
//     ImageSets/Segmentation, ImageSets/Layout or ImageSets.
//
// Lines name images with or without their extensions, and labels may follow. Paths in them were
// written for other machines, so they are matched by their ends. The first of these forms that names
// images is used, and the others must agree with it.
//
//	lists, err := splitlists.Read(ctx, splitlists.Directory(root), files, splitlists.Options{})
//	a, err := splitlists.Assign(lists, paths)
package splitlists

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
)

// List is a list of the images of a split.
type List struct {
	// Split is train, val, test or another name, and As the word that states it.
	Split, As string
	// Source is the file that states the split, relative to the source of images, and File its
	// path.
	Source, File string
	// Reads are the files that Source names and that exist, relative to the source of images.
	Reads []string
	// Directories have images of the split, in them or below, and Names are the lines that name
	// images.
	Directories, Names []string
	// Tentative means that the file may have another purpose: it is a list if each line names an
	// image, or if one does and other files of its form are lists.
	Tentative bool
	// Optional means that the list may have another purpose: it is a list if it has an image.
	Optional bool
	// Below is the directory of the source that the images are in: "" for all.
	Below string

	form int // lists of one form complement each other; lists of another form repeat them
}

// Role is the use of a list in an assignment.
type Role uint8

// The roles of lists.
const (
	Unused   Role = iota // it names no images, or is something else
	Used                 // it states the splits of its images
	Compared             // it agrees with the lists that are used
)

// Assignment is the assignment of images to lists.
type Assignment struct {
	Of     []int32 // by image, the index of its list, -1 for none
	Images []int   // by list, how many images it has
	Roles  []Role  // by list
	// Unmatched are, by list, the names and directories of no image, the first of them; none for lists
	// that are compared.
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

// Assign finds the images of lists, as Read returns them. Images are paths with slashes, sorted. A
// name is of the image with whose path it has most names in common at the end: the whole name of the
// file at least, with or without its extension. It is an error if that is not one image, or if two
// lists have an image for different splits.
func Assign(lists []List, images []string) (*Assignment, error) {
	a := &Assignment{
		Of: make([]int32, len(images)), Images: make([]int, len(lists)), Roles: make([]Role, len(lists)),
		Unmatched: make([]int, len(lists)), FirstUnmatched: make([]string, len(lists)),
	}
	for i := range a.Of {
		a.Of[i] = -1
	}
	m := &matcher{images: images, indexes: map[indexKey]*index{}}
	for first, end := 0, 0; first < len(lists); first = end {
		for end = first; end < len(lists) && lists[end].form == lists[first].form && lists[end].Below == lists[first].Below; {
			end++
		}
		again := false // lists of another form have images of the same directory
		for k := range lists[:first] {
			again = again || lists[k].Below == lists[first].Below && a.Roles[k] == Used
		}
		certain := false      // other lists have this form
		for pass := range 3 { // tentative lists are tried after the others, and again if one is a list
			for k := first; k < end; k++ {
				if lists[k].Tentative == (pass > 0) && a.Roles[k] == Unused {
					if err := a.assign(lists, k, m, again, certain); err != nil {
						return nil, err
					}
				}
			}
			certain = slices.Contains(a.Roles[first:end], Used)
		}
	}
	return a, nil
}

// assign assigns the images of a list or, if lists of another form have done so, compares them.
// certain means that other files of its form are lists, so that it is one if it names any image.
func (a *Assignment) assign(lists []List, k int, m *matcher, again, certain bool) error {
	l := &lists[k]
	found, err := m.match(l)
	switch {
	case err != nil && (l.Tentative || again):
		return nil
	case err != nil:
		return err
	}
	if !again {
		a.Unmatched[k], a.FirstUnmatched[k] = found.unmatched, found.firstUnmatched
	}
	if l.Tentative && !certain && found.unmatched > 0 || len(found.images) == 0 {
		return nil
	}
	a.Roles[k] = Used
	if again {
		a.Roles[k] = Compared
	}
	for _, i := range found.images {
		switch before := a.Of[i]; {
		case before < 0 && !again:
			a.Of[i] = int32(k)
			a.Images[k]++
		case before < 0, lists[before].Split == l.Split:
		case again && (imagetree.Split(l.Split) == "" || imagetree.Split(lists[before].Split) == ""): // trainval includes train
		default:
			b := &lists[before]
			return fmt.Errorf("%s is in the split %s by %s, and in %s by %s", m.images[i], b.Split, b.Source, l.Split, l.Source)
		}
	}
	return nil
}

// matcher finds the images of lists.
type matcher struct {
	images  []string
	indexes map[indexKey]*index // of images, built as they are needed
}

// matched are the images of a list.
type matched struct {
	images         []int
	unmatched      int
	firstUnmatched string
}

func (m *matched) miss(name string) {
	if m.unmatched++; m.unmatched == 1 {
		m.firstUnmatched = name
	}
}

// match finds the images of a list.
func (m *matcher) match(l *List) (*matched, error) {
	found := new(matched)
	for _, dir := range l.Directories {
		first, end := within(m.images, dir, l.Below)
		if first == end {
			found.miss(dir)
		}
		for i := first; i < end; i++ {
			found.images = append(found.images, i)
		}
	}
	for _, line := range l.Names {
		i, other := m.find(line, l.Below)
		switch {
		case other >= 0:
			return nil, fmt.Errorf("%s: %q may be %s and %s", l.Source, line, m.images[i], m.images[other])
		case i < 0:
			found.miss(line)
		default:
			found.images = append(found.images, i)
		}
	}
	return found, nil
}

// find returns the image that a line names, -1 if there is none, and another that is as likely, -1 if
// there is none.
func (m *matcher) find(line, below string) (image, other int) {
	for _, name := range namesIn(line) {
		order := []bool{true, false}
		if imagetree.IsImage(name) {
			order = []bool{false, true}
		}
		for _, bare := range order {
			if image, other = m.index(indexKey{below, bare}).find(name); image >= 0 {
				return image, other
			}
		}
	}
	return -1, -1
}

// namesIn returns what may be the name of an image in a line, the likeliest first: names may have
// spaces, and labels may follow.
func namesIn(line string) (names []string) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return []string{line}
	}
	if imagetree.IsImage(fields[0]) {
		names = append(names, fields[0])
	}
	names = append(names, line)
	name := line
	for n := len(fields) - 1; n > 0 && isInteger(fields[n]); n-- {
		name = strings.TrimSpace(strings.TrimSuffix(name, fields[n]))
	}
	if name != line {
		names = append(names, name)
	}
	return names
}

// isInteger reports whether a field is an integer, as labels are.
func isInteger(field string) bool {
	digits := strings.TrimPrefix(field, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// namesImage reports whether a line has the extension of an image, at its end or before a label.
func namesImage(line string) bool {
	return imagetree.IsImage(line) || imagetree.IsImage(strings.Fields(line)[0])
}

func (m *matcher) index(key indexKey) *index {
	x := m.indexes[key]
	if x == nil {
		x = newIndex(m.images, key)
		m.indexes[key] = x
	}
	return x
}
