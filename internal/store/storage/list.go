package storage

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Walk yields all objects below a directory of a store, whatever directories they are in, in the
// order of their names and a page in memory at a time: one list, where a descent would take one for
// each directory. Names are those below the directory. Without an object there the error unwraps to
// fs.ErrNotExist. It is for URLs alone.
func (l Location) Walk(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		fail := func(err error) { yield(Object{}, &fs.PathError{Op: "list", Path: l.String(), Err: err}) }
		if !l.Remote() {
			fail(fs.ErrInvalid)
			return
		}
		for o, err := range l.below(ctx, true) {
			if err != nil {
				fail(err)
				return
			}
			o.Name = strings.TrimPrefix(o.Name, l.directory())
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Entries yields the entries of a directory, ordered by name. For a store, it holds one page in
// memory at a time and stops when ctx is done.
func (l Location) Entries(ctx context.Context) iter.Seq2[fs.DirEntry, error] {
	return func(yield func(fs.DirEntry, error) bool) {
		if !l.Remote() {
			entries, err := os.ReadDir(l.name)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			return
		}
		for o, err := range l.below(ctx, false) {
			if err != nil {
				yield(nil, &fs.PathError{Op: "list", Path: l.String(), Err: err})
				return
			}
			if !yield(fs.FileInfoToDirEntry(infoOf(o)), nil) {
				return
			}
		}
	}
}

// below yields the entries of a directory of a store, with the contents of subdirectories if deep
// is set. If there are none, the list ends with an error that unwraps to fs.ErrNotExist.
func (l Location) below(ctx context.Context, deep bool) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		s, err := l.store(ctx)
		if err != nil {
			yield(Object{}, err)
			return
		}
		there := l.name == ""
		for o, err := range s.List(ctx, l.directory(), deep) {
			if err != nil {
				yield(Object{}, err)
				return
			}
			there = true
			if o.Name == l.directory() {
				continue // what consoles make to show an empty directory
			}
			if !yield(o, nil) {
				return
			}
		}
		if !there {
			yield(Object{}, fs.ErrNotExist)
		}
	}
}

// ReadDir lists a directory in the order of names. The list of a store is given up when
// ctx is done.
func ReadDir(ctx context.Context, p string) ([]fs.DirEntry, error) { return Parse(p).ReadDir(ctx) }

// ReadDir is the function ReadDir for a location.
func (l Location) ReadDir(ctx context.Context) ([]fs.DirEntry, error) {
	if !l.Remote() {
		return os.ReadDir(l.name)
	}
	var entries []fs.DirEntry
	for e, err := range l.Entries(ctx) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Glob returns the paths that match a pattern, as filepath.Glob does, in order.
// A * in a URL stays between slashes, as in a path. Lists of a store are given up when
// ctx is done.
func Glob(ctx context.Context, pattern string) ([]string, error) {
	l := Parse(pattern)
	if !l.Remote() {
		return filepath.Glob(l.name)
	}
	files, directories, err := l.glob(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, match := range append(files, directories...) {
		all = append(all, match.path)
	}
	slices.Sort(all)
	return slices.Compact(all), nil // an object and a directory may have one name
}

// GlobKinds is Glob with files and directories returned separately. It makes no request per match
// of a store. Matches of other kinds, such as pipes, are omitted.
func GlobKinds(ctx context.Context, pattern string) (files, directories []Location, err error) {
	l := Parse(pattern)
	if l.Remote() {
		return l.glob(ctx)
	}
	matches, err := filepath.Glob(l.name)
	for _, p := range matches {
		switch st, err := os.Stat(p); {
		case err != nil:
		case st.IsDir():
			directories = append(directories, l.renamed(p))
		case st.Mode().IsRegular():
			files = append(files, l.renamed(p))
		}
	}
	return files, directories, err
}

// glob descends one name at a time, so that only directories that match are listed.
func (l Location) glob(ctx context.Context) (files, directories []Location, err error) {
	if _, err := path.Match(l.name, ""); err != nil {
		return nil, nil, err
	}
	fail := func(err error) error { return &fs.PathError{Op: "list", Path: l.String(), Err: err} }
	s, err := l.store(ctx)
	if err != nil {
		return nil, nil, fail(err)
	}
	names := strings.Split(l.name, "/")
	found := []string{""} // directories, with the slash after them
	for i, name := range names {
		last := i == len(names)-1
		var next []string
		for _, dir := range found {
			if !strings.ContainsAny(name, `*?[\`) && !last {
				next = append(next, dir+name+"/")
				continue
			}
			for o, err := range s.List(ctx, dir+literalPrefix(name), false) {
				if err != nil {
					return nil, nil, fail(err)
				}
				base, directory := strings.CutSuffix(strings.TrimPrefix(o.Name, dir), "/")
				if ok, _ := path.Match(name, base); !ok || base == "" {
					continue
				}
				switch whole := l.renamed(dir + base); {
				case last && directory:
					directories = append(directories, whole)
				case last:
					files = append(files, whole)
				case directory:
					next = append(next, dir+base+"/")
				}
			}
		}
		found = next
	}
	byPath := func(a, b Location) int { return strings.Compare(a.path, b.path) }
	slices.SortFunc(files, byPath)
	slices.SortFunc(directories, byPath) // lists have them in the order that the slash after them gives
	return files, directories, nil
}

// literalPrefix returns the part of a pattern before its first special character, with which every
// match begins.
func literalPrefix(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}
