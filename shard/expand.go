package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/storage"
)

// ErrNoRecords says that an input is there but holds no TFRecord file: an
// empty folder, or a glob that matches nothing.
var ErrNoRecords = errors.New("no TFRecord files")

// Set is a finished set at rest: a manifest and the folder that it lies in.
type Set struct {
	Dir string
	*Manifest
}

// Path returns the path of one of the set's files, named relative to its folder.
func (s *Set) Path(name string) string { return storage.Join(s.Dir, name) }

// shards returns what the manifest names, in its order.
func (s *Set) shards() []Source {
	var sources []Source
	for _, split := range s.Splits {
		for i := range split.Shards {
			info := &split.Shards[i]
			sources = append(sources, Source{Path: s.Path(info.File), Set: s, Split: split.Name, Info: info})
		}
	}
	return sources
}

// Source is a file of records to read.
type Source struct {
	// Path of the file, as a user of the paths given to Expand could open it.
	Path string
	// Set that names the file; nil when none does.
	Set *Set
	// Split and Info are what Set's manifest says of the file.
	Split string
	Info  *Info
}

// Expand finds the files that paths stand for, in name order. A path is
//
//   - a file of records; when the manifest beside it names it, that is its Set,
//   - a manifest (any name that ends in .json): all shards that it names, there or not,
//   - a folder with a manifest: the same,
//   - a folder without one: its *.tfrecord* files or, when there are none, the
//     files that other writers' habits make shards (see habits); folders in it
//     are not searched,
//   - a glob, as of filepath.Match: the files that match, without those that
//     only describe others (manifests, indexes, TFDS's files) and, as in a shell,
//     those that begin with a dot where the glob does not; when only folders
//     match, each of them as above.
//
// A path that is not there unwraps to fs.ErrNotExist, one without any record
// file to ErrNoRecords. A set that an Append has begun to change is an error.
func Expand(paths []string) ([]Source, error) {
	var e expander
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// expander collects what paths stand for.
type expander struct {
	sources []Source
	sets    []*Set // those of which all shards were asked for
	// badManifest, when not nil, takes the error of a manifest that cannot be
	// used; what lies beside it is then taken as a folder without one.
	badManifest func(path string, err error)

	beside map[string]map[string]Source // shards by folder and name, of manifests beside lone files
}

func (e *expander) add(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("no input: give a TFRecord file, a glob, a folder of shards or a manifest")
	}
	for _, path := range paths {
		if err := e.addPath(path); err != nil {
			return err
		}
	}
	slices.SortStableFunc(e.sources, func(a, b Source) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

func (e *expander) addPath(path string) error {
	st, err := storage.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return e.addDir(path)
	case err == nil && strings.HasSuffix(path, ".json"):
		return e.addManifest(path)
	case err == nil:
		e.addFile(path)
		return nil
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, `*?[`):
		return e.addGlob(path)
	default:
		return err
	}
}

func (e *expander) addManifest(path string) error {
	m, err := ReadManifest(path)
	switch {
	case err == nil:
		return e.addSet(&Set{Dir: storage.Dir(path), Manifest: m}, path)
	case errors.Is(err, errForeign), !isDamage(err):
		return err
	}
	return e.withoutManifest(path, err)
}

func (e *expander) addDir(dir string) error {
	path := storage.Join(dir, ManifestFile)
	m, err := ReadManifest(path)
	switch {
	case err == nil:
		return e.addSet(&Set{Dir: dir, Manifest: m}, path)
	case notThere(err), errors.Is(err, errForeign):
		return e.addLoose(dir)
	case !isDamage(err):
		return err
	}
	return e.withoutManifest(path, err)
}

// withoutManifest goes on with what lies beside a manifest that cannot be
// used, when that is wanted.
func (e *expander) withoutManifest(path string, err error) error {
	if e.badManifest == nil {
		return err
	}
	e.badManifest(path, err)
	return e.addLoose(storage.Dir(path))
}

func (e *expander) addSet(set *Set, path string) error {
	shards := set.shards()
	if len(shards) == 0 {
		return fmt.Errorf("%s: %w: it names no shards", path, ErrNoRecords)
	}
	if err := ViewDir(set.Dir).checkAppended(); err != nil {
		return err
	}
	e.sources = append(e.sources, shards...)
	e.sets = append(e.sets, set)
	return nil
}

// addLoose adds the record files of a folder that has no manifest: those of TFDS's
// names or, if there are none, those that other habits make.
func (e *expander) addLoose(dir string) error {
	var others []Source
	before := len(e.sources)
	for entry, err := range storage.Entries(dir) {
		if err != nil {
			return err
		}
		name := entry.Name()
		usual := tfrecordName(name)
		if !usual && (len(e.sources) > before || !otherHabit(name)) || describes(name) {
			continue
		}
		path := storage.Join(dir, name)
		if !entry.Type().IsRegular() {
			if storage.Remote(path) || isDir(path) {
				continue // stores have no links
			}
			if err := checkMember(path); err != nil {
				return err
			}
		}
		if usual {
			e.sources, others = append(e.sources, Source{Path: path}), nil
		} else {
			others = append(others, Source{Path: path})
		}
	}
	if e.sources = append(e.sources, others...); len(e.sources) == before {
		return fmt.Errorf("%s: %w in this folder, and folders in it are not searched: name the files, or give a glob", dir, ErrNoRecords)
	}
	return nil
}

func (e *expander) addGlob(pattern string) error {
	files, dirs, err := storage.GlobKinds(pattern)
	if err != nil {
		return fmt.Errorf("glob %q: %w", pattern, err)
	}
	hidden := func(path string) bool {
		return strings.HasPrefix(storage.Base(path), ".") && !strings.HasPrefix(storage.Base(pattern), ".")
	}
	found := false
	for _, path := range files {
		if !hidden(path) && !describes(storage.Base(path)) {
			e.addFile(path)
			found = true
		}
	}
	if found {
		return nil
	}
	dirs = slices.DeleteFunc(dirs, hidden)
	for _, dir := range dirs {
		if err := e.addDir(dir); err != nil {
			return err
		}
	}
	if len(dirs) == 0 {
		return fmt.Errorf("glob %q: %w match: check it, and that the shell leaves it alone (quote it)", pattern, ErrNoRecords)
	}
	return nil
}

// addFile adds one file, with the set that names it.
func (e *expander) addFile(path string) {
	dir, file := storage.Dir(path), storage.Base(path)
	shards, known := e.beside[dir]
	if !known {
		shards = make(map[string]Source)
		// Whatever else a manifest.json beside a lone file may be does not matter.
		if m, err := ReadManifest(storage.Join(dir, ManifestFile)); err == nil {
			for _, source := range (&Set{Dir: dir, Manifest: m}).shards() {
				shards[source.Info.File] = source
			}
		}
		if e.beside == nil {
			e.beside = make(map[string]map[string]Source)
		}
		e.beside[dir] = shards
	}
	source := shards[file]
	source.Path = path
	e.sources = append(e.sources, source)
}

// describes reports whether a file of that name only describes others.
func describes(name string) bool {
	switch name {
	case ManifestFile, LedgerFile, TFDSInfoFile, TFDSFeaturesFile:
		return true
	}
	return strings.HasSuffix(name, tfdsLabelsSuffix) || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, QuarantineSuffix)
}

func tfrecordName(name string) bool {
	return strings.Contains(name, ".tfrecord") && !strings.HasPrefix(name, ".")
}

// habits are names that writers other than TFDS give to files of records:
// the Object Detection API (x.record), Kaggle (x.tfrec), TFX and Yggdrasil
// (data_tfrecord-00000-of-00001.gz), Beam and tensor2tensor
// (part-00000-of-00003), TensorBoard.
var habits = regexp.MustCompile(`\.records?(\.gz|-|$)|\.tfrec(\.|$)|[_-]tfrecord|-\d{5,}-of-\d{5,}(\.|$)|^events\.out\.tfevents\.`)

func otherHabit(name string) bool {
	return habits.MatchString(name) && !strings.HasPrefix(name, ".")
}

// checkMember refuses a member of a set that is neither a regular file nor a link to
// one, such as a pipe that nobody writes to.
func checkMember(path string) error {
	f, err := storage.Open(context.Background(), path)
	if err != nil {
		return err
	}
	return f.Close()
}

// isFile reports whether path is a regular file, or a link to one.
func isFile(path string) bool {
	st, err := storage.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func isDir(path string) bool {
	st, err := storage.Stat(path)
	return err == nil && st.IsDir()
}
