package annotation

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Within prepends the directories of the path that the set was read from to the names of its
// images, if they identify directories with some of images: labels/train annotates images in a
// directory train, and not in val. Splits may have other names there: labels/valid annotates images
// in val, if none are in valid and all such directories have one name. images are paths, as for
// [Set.Match].
//
// COCO's files and tables have names of images, which are kept, unless all are without directories:
// train/_annotations.coco.json annotates images in train, if the directory has any of them. Where images
// in several directories have one of the names, instances_val.json, and a file of the split val,
// annotates those in val.
func (s *Set) Within(at, split string, images []string) {
	home := s.home(at)
	if home == "" && s.bare() && s.repeated(images) {
		home = cmp.Or(imagetree.SplitOfFile(path.Base(filepath.ToSlash(at))), split)
	}
	if home == "" {
		return
	}
	if dir := s.directoryOf(images, home); dir != "" {
		for i := range s.Images {
			s.Images[i].Name = dir + "/" + s.Images[i].Name
		}
	}
}

// directoryOf returns home if images are in such a directory, in any case, or else the only one that
// differs in the names of splits; "" if there is none, or none with images of the names in the file.
func (s *Set) directoryOf(images []string, home string) string {
	layout, parts := layouts[s.Format].images, strings.Split(home, "/")
	names := s.bareNames()
	others, last := map[string]bool{}, ""
	for _, name := range images {
		dir := path.Dir(without(name, layout))
		if dir == last || names != nil && !names[strings.ToLower(path.Base(name))] {
			continue
		}
		last = dir
		for at := strings.Split(dir, "/"); len(at) >= len(parts); at = at[1:] {
			found := at[:len(parts)]
			switch {
			case slices.EqualFunc(found, parts, strings.EqualFold):
				return home
			case slices.EqualFunc(found, parts, sameDirectory):
				others[strings.Join(found, "/")] = true
			}
		}
	}
	if len(others) == 1 {
		for dir := range others {
			return dir
		}
	}
	return ""
}

// sameDirectory reports whether names of directories are equal, in any case, or name the same
// split.
func sameDirectory(a, b string) bool {
	return strings.EqualFold(a, b) || imagetree.Split(a) != "" && imagetree.Split(a) == imagetree.Split(b)
}

// bareNames returns the names of images in COCO's files and tables, in lower case; nil for other
// formats.
func (s *Set) bareNames() map[string]bool {
	if !IsFile(s.Format) {
		return nil
	}
	names := make(map[string]bool, len(s.Images))
	for i := range s.Images {
		names[strings.ToLower(s.Images[i].Name)] = true
	}
	return names
}

// bare reports whether names are those of images, without directories.
func (s *Set) bare() bool {
	return IsFile(s.Format) && !slices.ContainsFunc(s.Images, func(im Image) bool { return strings.Contains(im.Name, "/") })
}

// repeated reports whether several images have one of the names.
func (s *Set) repeated(images []string) bool {
	names, seen := s.bareNames(), map[string]bool{}
	return slices.ContainsFunc(images, func(image string) bool {
		name := strings.ToLower(path.Base(image))
		again := names[name] && seen[name]
		seen[name] = true
		return again
	})
}

// home returns the end of a path that images have too: what follows the directory in which the
// format keeps annotations, or a split right before it, or at the end of other paths. For COCO's
// files and tables it is a split that has the file.
func (s *Set) home(at string) string {
	if IsFile(s.Format) && !s.bare() {
		return ""
	}
	if l := storage.Parse(at); !l.Remote() {
		if whole, err := filepath.Abs(at); err == nil {
			at = filepath.ToSlash(whole)
		}
	}
	parts := strings.Split(strings.TrimRight(at, "/"), "/")
	last := len(parts) - 1
	if IsFile(s.Format) {
		last--
	}
	if layout := layouts[s.Format].annotations; layout != "" {
		for i := last; i >= 0; i-- {
			if !strings.EqualFold(parts[i], layout) {
				continue
			}
			if i < last {
				return strings.Join(parts[i+1:], "/")
			}
			last--
			break
		}
	}
	if last >= 0 && imagetree.Split(parts[last]) != "" {
		return parts[last]
	}
	return ""
}
