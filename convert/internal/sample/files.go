package sample

import (
	"iter"
	"path"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Files yields the paths of everything that the set is made from, as the caller named it.
func (s *Set) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range s.Origin.Files(s.Images) {
			if !yield(path) {
				return
			}
		}
		for path := range s.annotationFiles() {
			if !yield(path) {
				return
			}
		}
		for _, file := range []string{s.Options.Labels.File, s.Options.Labels.Classes} {
			if file != "" && !yield(file) {
				return
			}
		}
	}
}

// annotationFiles yields the paths of annotations and masks: the files, and directories whose
// entries matter.
func (s *Set) annotationFiles() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, f := range s.Options.Annotations.Files {
			if !yield(f.Path) {
				return
			}
			for _, beside := range s.Annotations.Sets[i].Beside {
				if !yield(beside) {
					return
				}
			}
			for name := range filesBelow(s.Annotations.Sets[i]) {
				if !yield(storage.Join(f.Path, name)) {
					return
				}
			}
		}
		if s.Masks == nil || s.Colors != nil && !yield(s.Colors.At.Path()) {
			return
		}
		var masks []origin.Image
		for i := range s.Images {
			if mask := s.Images[i].Mask(); mask != nil {
				masks = append(masks, *mask)
			}
		}
		for path := range s.Masks.Files(masks) {
			if !yield(path) {
				return
			}
		}
	}
}

// filesBelow yields the files of a directory of annotations, and the directories in it that they
// are in; nothing for COCO's and tables, which are one file.
func filesBelow(set *annotation.Set) iter.Seq[string] {
	return func(yield func(string) bool) {
		if annotation.IsFile(set.Format) {
			return
		}
		directories := map[string]bool{".": true}
		for i := range set.Images {
			name := set.Images[i].Source
			if dir := path.Dir(name); !directories[dir] {
				directories[dir] = true
				if !yield(dir) {
					return
				}
			}
			if !yield(name) {
				return
			}
		}
	}
}
