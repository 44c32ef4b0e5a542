package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// expander collects the files that paths resolve to.
type expander struct {
	ctx     context.Context
	o       ExpandOptions
	sources []Source
	sets    []*Set                       // requested as a whole
	beside  map[string]map[string]Source // shards by directory and name, from manifests beside single files
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
	at := storage.Parse(path)
	st, err := at.Stat(e.ctx)
	switch {
	case err == nil && st.IsDir():
		return e.addDir(at)
	case err == nil && strings.HasSuffix(path, ".json"):
		return e.addManifest(at)
	case err == nil:
		return e.addFile(at)
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(path, `*?[`):
		return e.addGlob(path)
	default:
		return err
	}
}

func (e *expander) addManifest(path storage.Location) error {
	dir := path.Dir()
	if path.Base() == manifest.File {
		if renaming, err := e.halfRenamed(dir); renaming || err != nil {
			return err
		}
		set, err := openSet(e.ctx, dir)
		if err != nil || set != nil {
			return e.addOpened(set, path, err)
		}
	}
	m, err := manifest.Read(e.ctx, path.Path())
	if err == nil {
		return e.addSet(&Set{Dir: dir.Path(), Manifest: m, at: dir}, path.Path())
	}
	return e.addOpened(nil, path, err)
}

func (e *expander) addDir(dir storage.Location) error {
	if renaming, err := e.halfRenamed(dir); renaming || err != nil {
		return err
	}
	path := dir.Join(manifest.File)
	set, err := openSet(e.ctx, dir)
	switch {
	case errors.Is(err, manifest.ErrForeign):
		return e.addLoose(dir)
	case set == nil && err == nil:
		return e.addUnfinished(dir)
	}
	return e.addOpened(set, path, err)
}

// addOpened adds a set with its manifest, or handles a manifest that cannot be used.
func (e *expander) addOpened(set *Set, path storage.Location, err error) error {
	switch {
	case err == nil:
		return e.addSet(set, path.Path())
	case e.o.BadManifest == nil, errors.Is(err, manifest.ErrForeign), cannotRead(err):
		return err
	}
	e.o.BadManifest(path.Path(), err)
	return e.addLoose(path.Dir())
}

// cannotRead reports whether err says that something could not be read, or not yet, rather than
// that its content is bad.
func cannotRead(err error) bool {
	var system *fs.PathError
	return errors.As(err, &system) || errors.Is(err, ErrBusy) || errors.Is(err, setdir.ErrStuck) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// addUnfinished adds the record files of a directory without a manifest, if no shards are missing
// according to the state of a run or the names of the other shards.
func (e *expander) addUnfinished(dir storage.Location) error {
	missing, err := Unfinished(setdir.ViewAt(e.ctx, dir))
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
		missing = IncompleteByNames(dir.Path(), names)
	}
	if missing != nil {
		if refused := e.lacks(missing); refused != nil {
			return refused
		}
		if e.o.Incomplete != nil && errors.Is(err, ErrNoRecords) {
			return nil // all shards are reported as missing
		}
	}
	return err
}

// lacks returns missing as an error, unless the options accept an incomplete set.
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
	if e.o.Incomplete == nil || e.o.Partial { // package verify collects what is missing, and checks each shard itself
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
			set.Manifest, set.Partial = set.Manifest.Only(there), true
		}
	}
	e.sources = append(e.sources, set.Shards()...)
	e.sets = append(e.sets, set)
	return nil
}

// addLoose adds the record files of a directory without a manifest: those with TFDS's names or, if
// there are none, those that follow other conventions.
func (e *expander) addLoose(dir storage.Location) error {
	var others []Source
	before := len(e.sources)
	seen := inventory{}
	for entry, err := range dir.Entries(e.ctx) {
		if err != nil {
			return err
		}
		if len(others) == 0 && len(e.sources) == before { // for the error below
			seen.add(entry)
		}
		name := entry.Name()
		usual := tfrecordName(name)
		if !usual && (len(e.sources) > before || !otherHabit(name)) || Describes(name) {
			continue
		}
		file := dir.Join(name)
		if !entry.Type().IsRegular() {
			if dir.Remote() {
				continue // stores have no links
			}
			if st, err := file.Stat(e.ctx); err == nil && st.IsDir() {
				continue
			}
			if err := checkMember(e.ctx, file); err != nil {
				return err
			}
		}
		if usual {
			e.sources, others = append(e.sources, Source{Path: file.Path()}), nil
		} else {
			others = append(others, Source{Path: file.Path()})
		}
	}
	if e.sources = append(e.sources, others...); len(e.sources) == before {
		return fmt.Errorf("%s: %w in this directory (%v), and its subdirectories are not searched: name the files, or give a glob", dir.Path(), ErrNoRecords, seen)
	}
	return nil
}

// inventory counts the entries of a directory by extension.
type inventory map[string]int

func (n inventory) add(entry fs.DirEntry) {
	switch ext := strings.ToLower(filepath.Ext(entry.Name())); {
	case strings.HasPrefix(entry.Name(), "."):
	case entry.IsDir():
		n["directory"]++
	case ext == "" || len(ext) > 10 || strings.ContainsFunc(ext, func(r rune) bool { return r < ' ' || r > '~' }):
		n["other file"]++
	default:
		n[ext]++
	}
}

// String describes the most frequent entries, for an error: "it has 40 .jpg, 2 directories".
func (n inventory) String() string {
	if len(n) == 0 {
		return "it is empty"
	}
	kinds := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b))
	})
	var parts []string
	for _, kind := range kinds[:min(3, len(kinds))] {
		part := fmt.Sprintf("%d %s", n[kind], kind)
		if !strings.HasPrefix(kind, ".") {
			part = plural.Of(int64(n[kind]), kind)
		}
		parts = append(parts, part)
	}
	if len(kinds) > 3 {
		parts = append(parts, "and others")
	}
	return "it has " + strings.Join(parts, ", ")
}

func (e *expander) addGlob(pattern string) error {
	files, dirs, err := e.glob(pattern)
	if err != nil {
		return err
	}
	hiddenToo := strings.HasPrefix(storage.Base(pattern), ".")
	hidden := func(match storage.Location) bool { return !hiddenToo && strings.HasPrefix(match.Base(), ".") }
	found := false
	for _, file := range files {
		if name := file.Base(); !hidden(file) && !Describes(name) && !ofCard(name) {
			if err := e.addFile(file); err != nil {
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

// glob returns what matches a pattern, after completing interrupted changes of the sets it touches,
// because these rename files.
func (e *expander) glob(pattern string) (files, dirs []storage.Location, err error) {
	for settled := map[string]bool{}; ; {
		if files, dirs, err = storage.GlobKinds(e.ctx, pattern); err != nil {
			return nil, nil, fmt.Errorf("glob %q: %w", pattern, err)
		}
		again := false
		for _, file := range files {
			dir := file.Dir()
			if settled[dir.Path()] {
				continue
			}
			settled[dir.Path()] = true
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

// addFile adds one file, with the set whose manifest lists it.
func (e *expander) addFile(file storage.Location) error {
	dir := file.Dir()
	shards, known := e.beside[dir.Path()]
	if !known {
		shards = make(map[string]Source)
		// A manifest.json beside a single file may be anything, as long as it can be read.
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
		e.beside[dir.Path()] = shards
	}
	source := shards[file.Base()]
	if source.Set == nil || source.Set.old == nil {
		source.Path = file.Path()
	}
	e.sources = append(e.sources, source)
	return nil
}

// checkMember returns an error for a file that is neither regular nor a link to a regular file,
// such as a pipe without a writer.
func checkMember(ctx context.Context, file storage.Location) error {
	f, err := file.Open(ctx)
	if err != nil {
		return err
	}
	return f.Close()
}
