package annotation

import (
	"path"
	"slices"
	"strings"
)

// maxTail is the maximum number of directories that are compared if whole paths differ.
const maxTail = 8

// tails matches by the last directories of paths, in any case, and their base names. It compares as
// many directories of an annotation as any image has in common with it: see Match.
func (m *matcher) tails() error {
	if m.left == 0 {
		return nil
	}
	l := layouts[m.set.Format]
	l.annotations, l.images = strings.ToLower(l.annotations), strings.ToLower(l.images)
	directories := tailsOf(m.images, l.images)
	lengths := make([]int, len(m.found))
	for i := range lengths {
		dir := directory(m.set.Images[i].Name, l.annotations)
		if directories[dir] {
			lengths[i] = -1 // its image would have been found there
			continue
		}
		for n := 1; n <= maxTail; n++ {
			if _, ok := directories[tail(dir, n)]; !ok {
				break
			}
			lengths[i] = n
		}
	}
	whole := func(base string) string { return base }
	folded := func(base string) string { return strings.ToLower(stem(base)) }
	for n := slices.Max(lengths); n >= 0; n-- {
		key := func(layout string, of func(base string) string) func(string) string {
			return func(name string) string { return tail(directory(name, layout), n) + of(path.Base(name)) }
		}
		for _, of := range [...]struct{ name, path func(string) string }{{whole, whole}, {whole, stem}, {stem, stem}, {folded, folded}} {
			p := pass{name: key(l.annotations, of.name), path: key(l.images, of.path), only: func(i int) bool { return lengths[i] == n }}
			if err := m.run(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// directory returns the directory of a path, in lower case and with a slash at its end, without the
// directory of the format, layout, which is in lower case; "" if there is none.
func directory(name, layout string) string {
	return without(strings.ToLower(name[:strings.LastIndexByte(name, '/')+1]), layout)
}

// tail returns the last n of the directories of a path that ends in a slash, or "" if there are
// fewer.
func tail(dir string, n int) string {
	at := len(dir)
	for ; n > 0; n-- {
		if at == 0 {
			return ""
		}
		at = strings.LastIndexByte(dir[:at-1], '/') + 1
	}
	return dir[at:]
}

// tailsOf returns the last directories of images, one, two, and so on, with false, and with true
// their whole directories.
func tailsOf(images []string, layout string) map[string]bool {
	tails, last := map[string]bool{}, ""
	for _, name := range images {
		dir := directory(name, layout)
		if dir == last || dir == "" {
			continue
		}
		tails[dir], last = true, dir
		for n := 1; n <= maxTail; n++ {
			if t := tail(dir, n); t != "" && !tails[t] {
				tails[t] = false
			}
		}
	}
	return tails
}
