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
func Walk(ctx context.Context, dir string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		u, ok := parse(dir)
		fail := func(err error) { yield(Object{}, &fs.PathError{Op: "list", Path: dir, Err: err}) }
		if !ok {
			fail(fs.ErrInvalid)
			return
		}
		for o, err := range u.below(ctx, true) {
			if err != nil {
				fail(err)
				return
			}
			o.Name = strings.TrimPrefix(o.Name, u.directory())
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Entries yields what lies in a directory, in the order of names; of a store, with a
// page in memory at a time and until ctx is done.
func Entries(ctx context.Context, p string) iter.Seq2[fs.DirEntry, error] {
	return func(yield func(fs.DirEntry, error) bool) {
		u, remote := parse(p)
		if !remote {
			entries, err := os.ReadDir(Local(p))
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
		for o, err := range u.below(ctx, false) {
			if err != nil {
				yield(nil, &fs.PathError{Op: "list", Path: u.String(), Err: err})
				return
			}
			if !yield(fs.FileInfoToDirEntry(infoOf(o)), nil) {
				return
			}
		}
	}
}

// below yields what is in a directory of a store or, when deep, in those below it, too. The list
// ends with an error that unwraps to fs.ErrNotExist when there is nothing.
func (u url) below(ctx context.Context, deep bool) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		s, err := u.store(ctx)
		if err != nil {
			yield(Object{}, err)
			return
		}
		there := u.name == ""
		for o, err := range s.List(ctx, u.directory(), deep) {
			if err != nil {
				yield(Object{}, err)
				return
			}
			there = true
			if o.Name == u.directory() {
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
func ReadDir(ctx context.Context, p string) ([]fs.DirEntry, error) {
	if !Remote(p) {
		return os.ReadDir(Local(p))
	}
	var entries []fs.DirEntry
	for e, err := range Entries(ctx, p) {
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
	if !Remote(pattern) {
		return filepath.Glob(Local(pattern))
	}
	files, directories, err := GlobKinds(ctx, pattern)
	if err != nil {
		return nil, err
	}
	all := append(files, directories...)
	slices.Sort(all)
	return slices.Compact(all), nil // an object and a directory may have one name
}

// GlobKinds is Glob that tells files from directories: of a store, with no request
// for each of them. What is neither, such as a pipe, is left out.
func GlobKinds(ctx context.Context, pattern string) (files, directories []string, err error) {
	u, remote := parse(pattern)
	if remote {
		return u.glob(ctx)
	}
	matches, err := filepath.Glob(Local(pattern))
	for _, p := range matches {
		switch st, err := os.Stat(p); {
		case err != nil:
		case st.IsDir():
			directories = append(directories, p)
		case st.Mode().IsRegular():
			files = append(files, p)
		}
	}
	return files, directories, err
}

// glob descends one name at a time, so that only directories that match are listed.
func (u url) glob(ctx context.Context) (files, directories []string, err error) {
	if _, err := path.Match(u.name, ""); err != nil {
		return nil, nil, err
	}
	fail := func(err error) error { return &fs.PathError{Op: "list", Path: u.String(), Err: err} }
	s, err := u.store(ctx)
	if err != nil {
		return nil, nil, fail(err)
	}
	names := strings.Split(u.name, "/")
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
				switch whole := (url{u.scheme, u.host, dir + base}).String(); {
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
	slices.Sort(files)
	slices.Sort(directories) // lists have them in the order that the slash after them gives
	return files, directories, nil
}

// literalPrefix is what every match of a pattern begins with.
func literalPrefix(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}
