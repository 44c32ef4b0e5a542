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

	"github.com/tfrec/tfrec/internal/labels"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// ErrNoRecords says that an input is there but holds no TFRecord file: an
// empty directory, or a glob that matches nothing.
var ErrNoRecords = errors.New("no TFRecord files")

// Set is a finished set at rest: a manifest and the directory that it is in.
type Set struct {
	Dir string
	*Manifest
	// Partial says that the directory lacks shards of the set. Manifest then has
	// those that are there, unlike the manifest file.
	Partial bool

	// old are the files that a living process is replacing: the set is what was
	// there before, and they are in oldDir.
	old map[string]bool
}

// Path returns the path of one of the set's files, named relative to its directory.
func (s *Set) Path(name string) string { return storage.Join(s.Dir, s.place(name)) }

// place is where one of the set's files is, relative to its directory.
func (s *Set) place(name string) string {
	if s.old[name] {
		return setdir.OldDir + "/" + name
	}
	return name
}

// Shards returns what the manifest names, in its order.
func (s *Set) Shards() []Source {
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
//   - a directory with a manifest: the same,
//   - a directory without one: its *.tfrecord* files or, when there are none, the
//     files that other writers' habits make shards (see habits); directories in it
//     are not searched,
//   - a glob, as of filepath.Match: the files that match, without those that
//     only describe others (manifests, indexes, TFDS's files) and, as in a shell,
//     those that begin with a dot where the glob does not; when only directories
//     match, each of them as above.
//
// A path that is not there unwraps to fs.ErrNotExist, one without any record
// file to ErrNoRecords.
//
// A directory and a manifest stand for a set, which must be whole: when shards are not
// there that its manifest, the names of its shards or the state of a run call for, the
// error is an *IncompleteError, unless ExpandOptions.Partial is set. Files and globs
// that match files stand for themselves.
//
// A change of the set that a process began and did not complete is completed first,
// under the lock of the directory. While a living process is at it, the set is what it
// was before.
func Expand(ctx context.Context, paths []string, o ExpandOptions) ([]Source, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// Expansion is what paths stand for.
type Expansion struct {
	// Sources are the files, each once.
	Sources []Source
	// Sets are those of which the paths stand for all shards.
	Sets []*Set
}

// ExpandSets is Expand for those who look at sets as wholes. A file that several paths
// stand for is one Source, with what a manifest says of it.
func ExpandSets(ctx context.Context, paths []string, o ExpandOptions) (*Expansion, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return &Expansion{distinct(e.sources), e.sets}, nil
}

// ExpandSet is ExpandSets for a set whose manifest was read from the file at path.
func ExpandSet(ctx context.Context, set *Set, path string, o ExpandOptions) (*Expansion, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.addSet(set, path); err != nil {
		return nil, err
	}
	return &Expansion{e.sources, e.sets}, nil
}

// LooseFiles returns the record files of a directory whatever its manifest says: those of
// TFDS's names or, if there are none, those that the habits of other writers make. None is
// an error that unwraps to ErrNoRecords.
func LooseFiles(ctx context.Context, dir string) ([]Source, error) {
	e := expander{ctx: ctx}
	if err := e.addLoose(dir); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// distinct drops sources that were asked for more than once, keeping those
// that a manifest says most of.
func distinct(sources []Source) []Source {
	var kept []Source
	for _, s := range sources {
		if n := len(kept); n > 0 && kept[n-1].Path == s.Path {
			if kept[n-1].Info == nil {
				kept[n-1] = s
			}
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// ExpandOptions say how paths are expanded. The zero value wants whole sets.
type ExpandOptions struct {
	// Partial takes what is there of sets that lack shards, or whose run has not
	// completed.
	Partial bool
	// Note, when not nil, is called with a sentence for each set that is taken in part.
	Note func(sentence string)
	// Incomplete, when not nil, is called with what is missing of a set, which is then
	// taken in part.
	Incomplete func(*IncompleteError)
	// BadManifest, when not nil, is called with the error of a manifest that cannot be
	// used. Its directory is then taken as one without a manifest.
	BadManifest func(path string, err error)
}

// expander collects what paths stand for.
type expander struct {
	ctx     context.Context
	o       ExpandOptions
	sources []Source
	sets    []*Set                       // those of which all shards were asked for
	beside  map[string]map[string]Source // shards by directory and name, of manifests beside lone files
}

func (e *expander) add(paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("no input: give a TFRecord file, a glob, a directory of shards or a manifest")
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
	st, err := storage.Stat(e.ctx, path)
	switch {
	case err == nil && st.IsDir():
		return e.addDir(path)
	case err == nil && strings.HasSuffix(path, ".json"):
		return e.addManifest(path)
	case err == nil:
		return e.addFile(path)
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, `*?[`):
		return e.addGlob(path)
	default:
		return err
	}
}

func (e *expander) addManifest(path string) error {
	if storage.Base(path) == ManifestFile {
		if renaming, err := e.halfRenamed(storage.Dir(path)); renaming || err != nil {
			return err
		}
		set, err := openSet(e.ctx, storage.Dir(path))
		if err != nil || set != nil {
			return e.addOpened(set, path, err)
		}
	}
	m, err := ReadManifest(e.ctx, path)
	if err == nil {
		return e.addSet(&Set{Dir: storage.Dir(path), Manifest: m}, path)
	}
	return e.addOpened(nil, path, err)
}

func (e *expander) addDir(dir string) error {
	if renaming, err := e.halfRenamed(dir); renaming || err != nil {
		return err
	}
	path := storage.Join(dir, ManifestFile)
	set, err := openSet(e.ctx, dir)
	switch {
	case errors.Is(err, ErrForeign):
		return e.addLoose(dir)
	case set == nil && err == nil:
		return e.addUnfinished(dir)
	}
	return e.addOpened(set, path, err)
}

// addOpened adds a set with its manifest, or does what is to be done about one that
// cannot be used.
func (e *expander) addOpened(set *Set, path string, err error) error {
	switch {
	case err == nil:
		return e.addSet(set, path)
	case e.o.BadManifest == nil, errors.Is(err, ErrForeign), cannotRead(err):
		return err
	}
	e.o.BadManifest(path, err)
	return e.addLoose(storage.Dir(path))
}

// cannotRead reports whether err says that something could not be read, or is not
// ready to be, and nothing of what is in it.
func cannotRead(err error) bool {
	var system *fs.PathError
	return errors.As(err, &system) || errors.Is(err, ErrBusy) || errors.Is(err, errStuck) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// addUnfinished adds the record files of a directory without a manifest, if they are
// all that a run is to write, and all that their names count.
func (e *expander) addUnfinished(dir string) error {
	missing, err := Unfinished(setdir.View(e.ctx, dir))
	if err != nil {
		return err
	}
	before := len(e.sources)
	err = e.addLoose(dir)
	if missing == nil && err == nil {
		var names []string
		for _, s := range e.sources[before:] {
			names = append(names, storage.Base(s.Path))
		}
		missing = IncompleteByNames(dir, names)
	}
	if missing != nil {
		if refused := e.lacks(missing); refused != nil {
			return refused
		}
		if e.o.Incomplete != nil && errors.Is(err, ErrNoRecords) {
			return nil // all of the shards are among what is missing
		}
	}
	return err
}

// lacks refuses a set that is not whole, unless a part will do.
func (e *expander) lacks(missing *IncompleteError) error {
	switch {
	case e.o.Partial && missing.Evidence != ByRenames:
		if e.o.Note != nil {
			e.o.Note(missing.Note())
		}
	case e.o.Incomplete != nil:
		e.o.Incomplete(missing)
	default:
		return missing
	}
	return nil
}

func (e *expander) addSet(set *Set, path string) error {
	if len(set.Shards()) == 0 {
		return fmt.Errorf("%s: %w: it names no shards", path, ErrNoRecords)
	}
	if e.o.Incomplete == nil || e.o.Partial { // Verify, which collects what is missing, looks at each shard
		missing, there, err := set.Lacks(e.ctx)
		if err != nil {
			return err
		}
		if missing != nil {
			if err := e.lacks(missing); err != nil {
				return err
			}
			if len(there) == 0 {
				return fmt.Errorf("%s: %w: none of the %d shards that it names exists", path, ErrNoRecords, missing.Shards)
			}
			set.Manifest, set.Partial = set.Manifest.only(there), true
		}
	}
	e.sources = append(e.sources, set.Shards()...)
	e.sets = append(e.sets, set)
	return nil
}

// addLoose adds the record files of a directory that has no manifest: those of TFDS's
// names or, if there are none, those that other habits make.
func (e *expander) addLoose(dir string) error {
	var others []Source
	before := len(e.sources)
	for entry, err := range storage.Entries(e.ctx, dir) {
		if err != nil {
			return err
		}
		name := entry.Name()
		usual := tfrecordName(name)
		if !usual && (len(e.sources) > before || !otherHabit(name)) || Describes(name) {
			continue
		}
		path := storage.Join(dir, name)
		if !entry.Type().IsRegular() {
			if storage.Remote(path) || storage.IsDir(e.ctx, path) {
				continue // stores have no links
			}
			if err := checkMember(e.ctx, path); err != nil {
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
		return fmt.Errorf("%s: %w in this directory, and its subdirectories are not searched: name the files, or give a glob", dir, ErrNoRecords)
	}
	return nil
}

func (e *expander) addGlob(pattern string) error {
	files, dirs, err := e.glob(pattern)
	if err != nil {
		return err
	}
	hidden := func(path string) bool {
		return strings.HasPrefix(storage.Base(path), ".") && !strings.HasPrefix(storage.Base(pattern), ".")
	}
	found := false
	for _, path := range files {
		if !hidden(path) && !Describes(storage.Base(path)) {
			if err := e.addFile(path); err != nil {
				return err
			}
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
		return fmt.Errorf("glob %q: %w match: check it, and quote it so that the shell does not expand it", pattern, ErrNoRecords)
	}
	return nil
}

// glob returns what matches a pattern, once changes of the sets that it is in are
// complete, since these give files other names.
func (e *expander) glob(pattern string) (files, dirs []string, err error) {
	for settled := map[string]bool{}; ; {
		if files, dirs, err = storage.GlobKinds(e.ctx, pattern); err != nil {
			return nil, nil, fmt.Errorf("glob %q: %w", pattern, err)
		}
		again := false
		for _, path := range files {
			dir := storage.Dir(path)
			if settled[dir] {
				continue
			}
			settled[dir] = true
			if journal, err := journalOf(dir); err != nil {
				return nil, nil, err
			} else if journal == nil {
				continue
			}
			again = true
			if _, err := openSet(e.ctx, dir); err != nil {
				return nil, nil, err
			}
		}
		if !again {
			return files, dirs, nil
		}
	}
}

// addFile adds one file, with the set that names it.
func (e *expander) addFile(path string) error {
	dir, file := storage.Dir(path), storage.Base(path)
	shards, known := e.beside[dir]
	if !known {
		shards = make(map[string]Source)
		// Whatever else a manifest.json beside a lone file may be does not matter, as long
		// as it can be read.
		set, err := openSet(e.ctx, dir)
		if err != nil && cannotRead(err) {
			return err
		}
		if err == nil && set != nil {
			for _, source := range set.Shards() {
				shards[source.Info.File] = source
			}
		}
		if e.beside == nil {
			e.beside = make(map[string]map[string]Source)
		}
		e.beside[dir] = shards
	}
	source := shards[file]
	if source.Set == nil || source.Set.old == nil {
		source.Path = path
	}
	e.sources = append(e.sources, source)
	return nil
}

// Describes reports whether a file of that name only describes others.
func Describes(name string) bool {
	switch name {
	case ManifestFile, LedgerFile, TFDSInfoFile, TFDSFeaturesFile:
		return true
	}
	return strings.HasSuffix(name, labels.FileSuffix) || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, QuarantineSuffix)
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
func checkMember(ctx context.Context, path string) error {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return err
	}
	return f.Close()
}
