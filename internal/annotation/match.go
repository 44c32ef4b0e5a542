package annotation

import (
	"fmt"
	"strings"
)

// Matched is the result of a match: the annotations of each image of a source.
type Matched struct {
	// Of are the indexes in Set.Images of the annotations of each image, in the order of the
	// images; -1 for images without annotations.
	Of []int
	// Missing are the indexes in Set.Images of those without an image, ascending.
	Missing []int
}

// Match finds the images of a source that are annotated. images are paths below the source, with
// "/" and each once. An annotation belongs to the first image that fits, by these rules in order:
//
//   - The name is the path, with or without extensions: a.jpg or a.xml for a.jpg.
//   - They are equal without the directories that the format keeps images and annotations in:
//     labels/train/a.txt for images/train/a.jpg.
//   - They are equal in another case: A.xml for a.jpg.
//   - Their last directories, in any case, and their base names are equal: json/train/a.json for
//     img/train/a.jpg. All directories count that any image has in this place: train/a.xml, of an
//     image that was removed, is not for val/a.jpg if other images are in a directory train.
//     Without such directories, a.xml is for train/a.jpg, and train2017/a.jpg for a.jpg.
//
// If several annotations or images fit equally, Match returns an error that names two, unless all
// of these annotations, or all of these images, have a better match.
func (s *Set) Match(images []string) (*Matched, error) {
	m := matcher{set: s, images: images, of: make([]int, len(images)), found: make([]bool, len(s.Images)), left: len(s.Images)}
	for i := range m.of {
		m.of[i] = -1
	}
	if err := m.paths(); err != nil {
		return nil, err
	}
	if err := m.tails(); err != nil {
		return nil, err
	}
	found := &Matched{Of: m.of}
	for i, ok := range m.found {
		if !ok {
			found.Missing = append(found.Missing, i)
		}
	}
	return found, nil
}

// stem is a path without its extension. A name that begins with its only dot has none.
func stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 && name[i-1] != '/' && !strings.Contains(name[i:], "/") {
		return name[:i]
	}
	return name
}

// without is a path without the last of its directories that has a name.
func without(name, dir string) string {
	if dir == "" {
		return name
	}
	if i := strings.LastIndex(name, "/"+dir+"/"); i >= 0 {
		return name[:i] + name[i+len(dir)+1:]
	}
	return strings.TrimPrefix(name, dir+"/")
}

// pass is a way to compare: an annotation fits an image if their keys are equal.
type pass struct {
	name, path func(string) string // the keys of an annotation's name and of an image's path
	only       func(i int) bool    // which annotations it is for; nil for all
}

// matcher matches in passes. Each pass matches the annotations that are left.
type matcher struct {
	set    *Set
	images []string
	of     []int
	found  []bool
	left   int // how many annotations are not found yet
}

// paths matches by whole paths.
func (m *matcher) paths() error {
	l := layouts[m.set.Format]
	whole := func(name string) string { return name }
	bare := func(dir string) func(string) string {
		return func(name string) string { return without(stem(name), dir) }
	}
	folded := func(dir string) func(string) string {
		dir = strings.ToLower(dir)
		return func(name string) string { return without(strings.ToLower(stem(name)), dir) }
	}
	passes := []pass{{name: whole, path: whole}, {name: whole, path: stem}, {name: stem, path: stem}}
	if l.annotations != "" {
		passes = append(passes, pass{name: bare(l.annotations), path: bare(l.images)})
	}
	passes = append(passes, pass{name: folded(l.annotations), path: folded(l.images)})
	for _, p := range passes {
		if err := m.run(p); err != nil {
			return err
		}
	}
	return nil
}

// rivals are what has the same key.
type rivals struct {
	annotations, images side
}

// side are the annotations or the images of a key: how many, how many of them are not matched yet,
// and the first two of those.
type side struct {
	count, free int
	first       [2]int32
}

func (s *side) add(i int, free bool) {
	s.count++
	if !free {
		return
	}
	if s.free < len(s.first) {
		s.first[s.free] = int32(i)
	}
	s.free++
}

func (m *matcher) run(p pass) error {
	if m.left == 0 {
		return nil
	}
	in := func(i int) bool { return !m.found[i] && (p.only == nil || p.only(i)) }
	keys := make(map[string]int32, m.left) // of annotations that are left
	all := make([]rivals, 0, m.left)
	for i := range m.found {
		if !in(i) {
			continue
		}
		key := p.name(m.set.Images[i].Name)
		if _, known := keys[key]; !known {
			keys[key] = int32(len(all))
			all = append(all, rivals{})
		}
	}
	if len(all) == 0 {
		return nil
	}
	for i, found := range m.found {
		if at, ok := keys[p.name(m.set.Images[i].Name)]; ok {
			all[at].annotations.add(i, !found)
		}
	}
	for i, name := range m.images {
		if at, ok := keys[p.path(name)]; ok {
			all[at].images.add(i, m.of[i] < 0)
		}
	}
	for i := range m.found {
		if !in(i) {
			continue
		}
		r := &all[keys[p.name(m.set.Images[i].Name)]]
		switch {
		case r.images.free == 0:
		case r.annotations.count > 1 || r.images.count > 1:
			return m.ambiguous(r)
		default:
			m.of[r.images.first[0]], m.found[i] = i, true
			m.left--
		}
	}
	return nil
}

// ambiguous is the error of rivals.
func (m *matcher) ambiguous(r *rivals) error {
	annotation := func(i int32) string {
		im := &m.set.Images[i]
		if im.ID != "" {
			return fmt.Sprintf("%q (id %s)", im.Name, im.ID)
		}
		if IsFile(m.set.Format) {
			return fmt.Sprintf("%q", im.Name)
		}
		return fmt.Sprintf("%q", im.Source)
	}
	remedy := "remove one, or arrange the annotations in the directories of the images"
	switch m.set.Format {
	case "coco":
		remedy = "correct file_name in the annotations"
	case "csv":
		remedy = "correct the names in the table"
	}
	of, images := r.annotations.first, r.images.first
	switch {
	case r.images.free > 1:
		return fmt.Errorf("cannot tell which image the annotations %s are of: %q or %q; %s", annotation(of[0]), m.images[images[0]], m.images[images[1]], remedy)
	case r.annotations.free > 1:
		return fmt.Errorf("cannot tell which annotations the image %q has: %s or %s; %s", m.images[images[0]], annotation(of[0]), annotation(of[1]), remedy)
	}
	return fmt.Errorf("cannot tell whether the annotations %s are of the image %q: they fit others as well, which are matched; %s", annotation(of[0]), m.images[images[0]], remedy)
}
