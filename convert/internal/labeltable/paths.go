package labeltable

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
)

// rowPaths finds the images that the rows of a table name, and why rows name none.
type rowPaths struct {
	origin origin.Origin
	images []origin.Image // listed
	found  map[string]int // by path
	roots  []string       // of the source, with /: absolute paths below one of them are its own

	taken map[string]*rowsAlike // rows whose paths were not taken as they are, by how
	lost  map[lostPath]*rowsAlike
	// Indexes of images by path without the extension, and by the last element of that, in lower
	// case; nil before nearest needs them.
	byStem, byBase map[string]int32
}

// rowsAlike are rows with the same note.
type rowsAlike struct {
	rows    int64
	line    int64  // of the first
	written string // its path
	image   string // its nearest image
}

// lostPath is the difference between the path in a row and the path of an image.
type lostPath struct {
	prefix   string // of the path, before the path of the image
	absolute bool
	suffix   string // the missing extension
	other    string // another difference
	below    string // the missing directory
}

const (
	// maxLostPaths is the number of differences that are counted separately.
	maxLostPaths = 100
	// maxDepth is the number of directories left out of a path, at most, to find an image.
	maxDepth = 32
)

func newRowPaths(from origin.Origin, images []origin.Image) *rowPaths {
	r := &rowPaths{origin: from, images: images, found: make(map[string]int, len(images)), taken: map[string]*rowsAlike{}, lost: map[lostPath]*rowsAlike{}}
	for i := range images {
		r.found[images[i].Path] = i
	}
	if tree, ok := from.(*origin.Tree); ok {
		root := tree.Place()
		r.roots = []string{filepath.ToSlash(root)}
		if real, err := filepath.EvalSymlinks(root); err == nil && real != root && !tree.Remote() {
			r.roots = append(r.roots, filepath.ToSlash(real))
		}
	}
	return r
}

// has reports whether a path, as a row may have it, names a listed image.
func (r *rowPaths) has(written string) bool {
	name, _ := r.find(written)
	_, ok := r.found[name]
	return ok
}

// like reports whether a path is meant to be one of an image.
func (r *rowPaths) like(written string) bool {
	if imagetree.IsImage(written) {
		return true
	}
	_, _, ok := r.nearest(written)
	return ok
}

// find returns the path, below the source, of the image that a row names, and how the row's path was
// changed for that.
func (r *rowPaths) find(written string) (name, how string) {
	name = path.Clean(written)
	if _, ok := r.found[name]; ok {
		return name, ""
	}
	for _, take := range []struct{ name, how string }{
		{written, ""}, {strings.TrimSpace(written), "spaces around paths do not count"},
		{withSlashes(written), "backslashes in paths are taken as slashes"}, {strings.TrimSpace(withSlashes(written)), "backslashes in paths are taken as slashes"},
	} {
		for _, root := range r.roots {
			if below, ok := strings.CutPrefix(take.name, strings.TrimSuffix(root, "/")+"/"); ok && filepath.IsLocal(below) {
				return path.Clean(below), "absolute paths below the source are taken relative to it"
			}
		}
		if _, ok := r.found[path.Clean(take.name)]; ok {
			return path.Clean(take.name), take.how
		}
	}
	return name, ""
}

func withSlashes(written string) string { return strings.ReplaceAll(written, `\`, "/") }

// take is find for the row on a line.
func (r *rowPaths) take(written string, line int64) string {
	name, how := r.find(written)
	if how != "" {
		count(r.taken, how, line, written, name)
	}
	return name
}

// count counts a row.
func count[K comparable](rows map[K]*rowsAlike, key K, line int64, written, image string) {
	if rows[key] == nil {
		rows[key] = &rowsAlike{line: line, written: written, image: image}
	}
	rows[key].rows++
}

// lose counts a row that names no image.
func (r *rowPaths) lose(written string, line int64) {
	if image, lost, ok := r.nearest(written); ok && (r.lost[lost] != nil || len(r.lost) < maxLostPaths) {
		count(r.lost, lost, line, written, image)
	}
}

// stem returns a path without the extension of an image, in lower case.
func stem(name string) string {
	if imagetree.IsImage(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return strings.ToLower(name)
}

// nearest returns the image whose path is like one that is not there, and what differs: all before
// the longest part at its end that is one, the extension, case, or a directory before all of it.
func (r *rowPaths) nearest(written string) (image string, lost lostPath, ok bool) {
	if r.byStem == nil {
		r.byStem, r.byBase = make(map[string]int32, len(r.images)), make(map[string]int32, len(r.images))
		for i := range r.images {
			s := stem(r.images[i].Path)
			if _, several := r.byStem[s]; !several {
				r.byStem[s] = int32(i)
			}
			if _, several := r.byBase[path.Base(s)]; several {
				i = -1
			}
			r.byBase[path.Base(s)] = int32(i)
		}
	}
	name := withSlashes(strings.TrimSpace(written))
	if len(name) > origin.MaxName {
		return "", lost, false
	}
	lost.absolute = path.IsAbs(name) || filepath.VolumeName(name) != "" || len(name) > 1 && name[1] == ':' || strings.Contains(name, "://")
	tail, more := name, true
	for depth := 0; more && depth < maxDepth; depth++ {
		if i, exact := r.found[tail]; exact {
			lost.prefix = name[:len(name)-len(tail)]
			return r.images[i].Path, lost, true
		}
		if i, ok := r.byStem[stem(tail)]; ok && tail != "" {
			lost.prefix = name[:len(name)-len(tail)]
			image = r.images[i].Path
			lost.differ(tail, image)
			return image, lost, true
		}
		_, tail, more = strings.Cut(tail, "/")
	}
	i, ok := r.byBase[path.Base(stem(name))]
	if !ok || i < 0 || lost.absolute {
		return "", lost, false
	}
	image = r.images[i].Path
	lost.below, ok = strings.CutSuffix(stem(image), "/"+stem(name))
	if lost.below = image[:len(lost.below)]; ok {
		lost.differ(name, image[len(lost.below)+1:])
	}
	return image, lost, ok
}

// differ notes how the last parts of a path and of an image's differ.
func (l *lostPath) differ(written, image string) {
	switch {
	case written == image:
	case strings.HasPrefix(image, written):
		l.suffix = image[len(written):]
	case strings.EqualFold(written, image):
		l.other = "case"
	default:
		l.other = "extension"
	}
}

// notes returns sentences about changes of paths, once for all rows.
func (r *rowPaths) notes() []string {
	var says []string
	for how, rows := range r.taken {
		says = append(says, fmt.Sprintf("%s, in %s, such as %s on line %d", how, plural.Of(rows.rows, "row"), jsontext.Readable(rows.written), rows.line))
	}
	slices.Sort(says)
	return says
}

// causes explains why rows of a table name no image, with the remedies: the cause of most rows first.
func (r *rowPaths) causes(table string) []string {
	type counted struct {
		lostPath
		*rowsAlike
	}
	var list []counted
	for lost, rows := range r.lost {
		list = append(list, counted{lost, rows})
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.line, b.line))
	})
	var says []string
	for _, c := range list {
		why, remedy := c.explain(r.origin)
		says = append(says, fmt.Sprintf("%s: no image for %s whose %s, such as %s on line %d, where there is %s: %s",
			table, plural.Of(c.rows, "row"), why, jsontext.Readable(c.written), c.line, jsontext.Readable(c.image), remedy))
	}
	return says
}

// explain describes how the paths of rows differ from the paths of images, and what to do.
func (l *lostPath) explain(o origin.Origin) (why, remedy string) {
	var ways, remedies []string
	add := func(way, remedy string) { ways, remedies = append(ways, way), append(remedies, remedy) }
	switch dir := strings.TrimSuffix(l.prefix, "/"); {
	case l.absolute:
		add("path is absolute and not below the source, but in "+jsontext.Readable(l.prefix), "write paths relative to the source, or convert the directory that has them")
	case l.prefix != "" && path.Base(dir) == path.Base(filepath.ToSlash(o.Place())):
		add("path begins with "+jsontext.Readable(l.prefix)+", as the source is called", "convert the directory above it, or write paths relative to the source")
	case l.prefix != "":
		add("path begins with "+jsontext.Readable(l.prefix), "write paths relative to the source, or convert the directory that they are relative to")
	case l.below != "":
		add("path lacks "+jsontext.Readable(l.below)+"/", o.Enter(l.below))
	}
	switch {
	case l.suffix != "":
		add("path lacks "+l.suffix, fmt.Sprintf("%s %s appends it", optname.LabelSpecPathSuffix, l.suffix))
	case l.other == "case":
		add("path differs in case", "write it as the image is called")
	case l.other != "":
		add("path has another extension", "write it as the image is called")
	}
	return strings.Join(ways, " and "), strings.Join(remedies, "; ")
}
