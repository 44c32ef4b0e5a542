package setdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// OptionVerb is the option, in a manifest and in the state of a run, that names the verb that
// reshaped the set.
const OptionVerb = "verb"

// RepairVerb is the OptionVerb of a repair.
const RepairVerb = "repair"

// DatasetName returns the name of a dataset in the directory at a path or URL that gives none: the base
// name of the directory in snake case.
func DatasetName(dir string) (string, error) {
	at := storage.Parse(dir)
	if at.Remote() {
		return naming.SnakeCase(at.Base()), nil
	}
	abs, err := filepath.Abs(at.String())
	if err != nil {
		return "", err
	}
	return naming.SnakeCase(filepath.Base(abs)), nil
}

// Resolve returns the absolute path, without symbolic links, of something that need not exist.
func Resolve(path string) (storage.Location, error) {
	at := storage.Parse(path)
	if at.Remote() {
		return at.Join(), nil // in its shortest form
	}
	path, err := filepath.Abs(at.String())
	if err != nil {
		return storage.Location{}, err
	}
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return storage.Parse(filepath.Join(real, rest)), nil
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return storage.Location{}, err
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = parent
	}
}

// LiesIn reports whether at is dir or inside it; both must be resolved.
func LiesIn(at, dir storage.Location) bool {
	rel, err := dir.Rel(at)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// OpenOut creates and locks the output directory, which must be empty except for leftovers of a
// killed run of the same verb. OpenOut removes these, unless the run was of the named plan; plan
// may be empty.
func OpenOut(ctx context.Context, out, verb, plan string, o Options) (*Dir, error) {
	loc := storage.Parse(out)
	if err := MustBeNew(ctx, loc, verb); err != nil {
		return nil, err
	}
	dir, err := open(ctx, loc, o)
	if err != nil {
		return nil, err
	}
	run, err := dir.State().Run()
	stale := run != nil && (plan == "" || run.Plan != plan)
	if stale {
		err = Discard(dir, run.Files)
	}
	if err == nil {
		err = MustBeNew(ctx, loc, verb) // it may have been filled before it was locked
		if err != nil && stale && loc.Remote() {
			// The last requests of the ended run may have taken effect only now.
			if err = Discard(dir, run.Files); err == nil {
				err = MustBeNew(ctx, loc, verb)
			}
		}
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	err = dir.Remove(place.StateDir + "/" + FinishedFile) // from a set that was removed
	if err == nil {
		err = dir.Sweep()
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// MustBeNew returns an error if a directory has anything in it except the files of a killed run of
// the same verb.
func MustBeNew(ctx context.Context, out storage.Location, verb string) error {
	dir := ViewAt(ctx, out)
	var ours map[string]bool
	for name, err := range FirstNames(ctx, out) {
		if err != nil {
			return err
		}
		if name == place.StateDir && out.Remote() {
			continue // a failed run leaves it, and nothing else: see undo
		}
		if ours == nil {
			ours = map[string]bool{place.StateDir: true}
			run, err := dir.State().Run()
			if err != nil {
				return err
			}
			if run != nil {
				var by string
				whole, err := dir.Exists(manifest.File)
				switch mine := json.Unmarshal(run.Options[OptionVerb], &by) == nil && by == verb; {
				case err != nil:
					return err
				case whole:
					run.Files = nil // they are a complete set, which is refused below
				case !mine:
					return fmt.Errorf("%s holds an unfinished run of tfrec: complete it, remove the directory, or give another", out.Path())
				}
				for _, file := range run.Files {
					first, _, _ := strings.Cut(file, "/")
					ours[first] = true
				}
			}
		}
		if !ours[name] || name == manifest.File {
			instead := ""
			if verb != RepairVerb {
				is, err := dir.Exists(manifest.File)
				if err != nil {
					return err
				}
				if is {
					instead = OrOverwrite(dir, fmt.Sprintf("; %s replaces the existing set", optname.OptionsOverwrite), "")
				}
			}
			return fmt.Errorf("%s exists and is not empty (it holds %s): give a new directory, or remove it%s", out.Path(), name, instead)
		}
	}
	return nil
}

// ErrForeign means that a file is not part of the set in its directory.
var ErrForeign = errors.New("exists and no manifest or state of tfrec names it")

// MustBeVacant returns an error that unwraps to ErrForeign if one of the names is taken. They are
// names of new files of the set.
func MustBeVacant(dir *Dir, names []string) error {
	taken, err := dir.Existing(names)
	if err != nil || len(taken) == 0 {
		return err
	}
	return fmt.Errorf("%s %w: move it away", dir.Join(taken[0]), ErrForeign)
}

// FirstNames yields the names of the entries of a directory, in a store with repetitions: it
// derives directories there from the names of objects, whatever the server says. A missing
// directory is empty.
func FirstNames(ctx context.Context, loc storage.Location) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if !loc.Remote() {
			entries, err := os.ReadDir(loc.Path())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				yield("", err)
				return
			}
			for _, e := range entries {
				if !yield(e.Name(), nil) {
					return
				}
			}
			return
		}
		for o, err := range loc.Walk(ctx) {
			if errors.Is(err, fs.ErrNotExist) {
				return
			}
			first, _, _ := strings.Cut(o.Name, "/")
			if !yield(first, err) || err != nil {
				return
			}
		}
	}
}

// OrOverwrite returns the advice about an existing set: here, or inStore for a store, where a set
// cannot replace another.
func OrOverwrite(dir *Dir, here, inStore string) string {
	if dir.Remote() {
		return inStore
	}
	return here
}
