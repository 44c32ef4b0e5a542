package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
)

// OptionVerb is the option in a manifest, and in the state of a run, that says
// which verb reshaped the set.
const OptionVerb = "verb"

// repairVerb is the OptionVerb of a repair.
const repairVerb = "repair"

// refuseOverlap refuses an output directory that is, holds or lies in one of the
// inputs: what is read must not change, and no set must hold another.
func refuseOverlap(ctx context.Context, paths []string, in *inputs, out string) error {
	to, err := resolve(out)
	if err != nil {
		return err
	}
	for _, f := range in.files {
		from, err := resolve(f.Path)
		if err != nil {
			return err
		}
		if liesIn(from, to) {
			return fmt.Errorf("%s is the input %s or contains it: give a directory elsewhere", out, f.Path)
		}
	}
	for _, path := range directories(ctx, paths, storage.Remote(out)) {
		if dir, err := resolve(path); err == nil && liesIn(to, dir) {
			return fmt.Errorf("%s is inside the input %s: give a directory elsewhere", out, path)
		}
	}
	return nil
}

// directories returns the directories that paths stand for as wholes: those in stores, or
// the others.
func directories(ctx context.Context, paths []string, remote bool) []string {
	var dirs []string
	for _, path := range paths {
		if storage.Remote(path) != remote {
			continue
		}
		matches := []string{path}
		if _, err := storage.Stat(ctx, path); err != nil {
			matches, _ = storage.Glob(ctx, path)
		}
		for _, match := range matches {
			if strings.HasSuffix(match, ".json") {
				match = storage.Dir(match)
			}
			if isDir(ctx, match) {
				dirs = append(dirs, match)
			}
		}
	}
	return dirs
}

// resolve returns the absolute path without symbolic links of something that
// need not be there yet.
func resolve(path string) (string, error) {
	if storage.Remote(path) {
		return storage.Clean(path), nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return "", err
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = parent
	}
}

// liesIn reports whether path is dir or lies in it; both are resolved.
func liesIn(path, dir string) bool {
	rel, err := storage.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// openOut makes and locks the output directory, which must be empty but for what
// a run of the same verb left that was killed. That goes, unless the run was of
// the plan named so, which may be empty.
func openOut(ctx context.Context, out, verb, plan string) (*Dir, error) {
	if err := mustBeNew(ctx, out, verb); err != nil {
		return nil, err
	}
	dir, err := OpenDir(ctx, out, DirOptions{})
	if err != nil {
		return nil, err
	}
	run, err := dir.Run()
	stale := run != nil && (plan == "" || run.Plan != plan)
	if stale {
		err = discard(dir, run.Files)
	}
	if err == nil {
		err = mustBeNew(ctx, out, verb) // a directory that was locked may have been filled before it was
		if err != nil && stale && storage.Remote(out) {
			// What the run that ended had asked for last may have come only now.
			if err = discard(dir, run.Files); err == nil {
				err = mustBeNew(ctx, out, verb)
			}
		}
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	err = dir.Remove(StateDir + "/" + finishedFile) // of a set that was removed
	if err == nil {
		err = dir.Sweep()
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// mustBeNew refuses a directory with anything in it but what a killed run of the
// same verb named.
func mustBeNew(ctx context.Context, out, verb string) error {
	dir := ViewDir(ctx, out)
	var ours map[string]bool
	for name, err := range firstNames(ctx, out) {
		if err != nil {
			return err
		}
		if name == StateDir && storage.Remote(out) {
			continue // a run that failed leaves it, and nothing else: see undo
		}
		if ours == nil {
			ours = map[string]bool{StateDir: true}
			run, err := dir.Run()
			if err != nil {
				return err
			}
			if run != nil {
				var by string
				whole, err := dir.Exists(ManifestFile)
				switch mine := json.Unmarshal(run.Options[OptionVerb], &by) == nil && by == verb; {
				case err != nil:
					return err
				case whole:
					run.Files = nil // they are a set, which is refused below
				case !mine:
					return fmt.Errorf("%s holds an unfinished run of tfrec: complete it, remove the directory, or give another", out)
				}
				for _, file := range run.Files {
					first, _, _ := strings.Cut(file, "/")
					ours[first] = true
				}
			}
		}
		if !ours[name] || name == ManifestFile {
			instead := ""
			if verb != repairVerb {
				is, err := dir.Exists(ManifestFile)
				if err != nil {
					return err
				}
				if is {
					instead = orOverwrite(dir, "; --overwrite replaces the existing set", "")
				}
			}
			return fmt.Errorf("%s exists and is not empty (it holds %s): give a new directory, or remove it%s", out, name, instead)
		}
	}
	return nil
}

// firstNames yields the names of what lies in a directory, some of them again and again
// when it is in a store: a directory there is what objects lie in, whatever a server says.
// One that is not there holds nothing.
func firstNames(ctx context.Context, path string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if !storage.Remote(path) {
			entries, err := os.ReadDir(path)
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
		for o, err := range storage.Walk(ctx, path) {
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

// orOverwrite is what to do about a set that is in the way: none takes the place of
// another in a store.
func orOverwrite(dir *Dir, here, inStore string) string {
	if storage.Remote(dir.path) {
		return inStore
	}
	return here
}

// undoPatience is how long what an interrupted run wrote into a store is removed.
// What is left then, the next run removes.
const undoPatience = 30 * time.Second

// undo removes what the run wrote. In a store the names of it stay in the state: a
// request that was given up may yet be carried out, and leave a file that the next run
// has to know. What is asked of a store ends with the run's context, so that once that
// is done it takes another one.
func (r *reshaping) undo(ctx context.Context) error {
	if !storage.Remote(r.dir.path) {
		return discard(r.dir, r.files)
	}
	files := append(slices.Clone(r.files), StateDir+"/"+finishedFile)
	if ctx.Err() == nil {
		return errors.Join(r.dir.Remove(files...), r.dir.Sweep())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	if err := r.dir.Close(); err != nil {
		return err
	}
	dir, err := OpenDir(ctx, r.dir.path, DirOptions{})
	if err != nil {
		return err
	}
	// This process may have been stopped for so long that another run has had the directory
	// meanwhile: what that made, when it ended, is its own.
	run, err := dir.Run()
	if err != nil || run == nil || len(run.Files) > len(r.files) || !slices.Equal(run.Files, r.files[:len(run.Files)]) {
		return errors.Join(err, dir.Close())
	}
	return errors.Join(dir.Remove(files...), dir.Sweep(), dir.Close())
}

// discard removes the files that a run named, and what is recorded of it.
func discard(dir *Dir, files []string) error {
	subs := map[string]bool{}
	for _, file := range files {
		if sub := filepath.Dir(filepath.FromSlash(file)); sub != "." && sub != IndexDir {
			subs[strings.TrimSuffix(sub, string(filepath.Separator)+IndexDir)] = true
		}
	}
	if err := dir.Remove(append(files, StateDir+"/"+finishedFile)...); err != nil {
		return err
	}
	for sub := range subs {
		if !filepath.IsLocal(sub) {
			continue
		}
		if err := forgetSub(dir.sub(sub)); err != nil {
			return err
		}
		dir.prune(filepath.ToSlash(filepath.Join(sub, IndexDir)), filepath.ToSlash(sub))
	}
	dir.prune(IndexDir) // it may have been made for an index to come
	return forget(dir)
}

// prune removes directories that are empty. A store has none that are.
func (d *Dir) prune(directories ...string) {
	for _, directory := range directories {
		if !storage.Remote(d.path) {
			os.Remove(d.join(directory)) // fails, as it should, when it holds what is not ours
		}
	}
}

// forgetSub removes the temporary files in the directory of a group, which lies in
// the output directory and goes by its lock.
func forgetSub(dir *Dir) error {
	if storage.Remote(dir.path) {
		return nil // they lie elsewhere
	}
	return os.RemoveAll(dir.join(StateDir))
}

// forget removes all that is recorded of a run, so that a directory whose run has
// ended holds the set and nothing else.
func forget(dir *Dir) error {
	if err := dir.Sweep(); err != nil {
		return err
	}
	run, err := dir.Run()
	if err != nil {
		return err
	}
	if run != nil && run.Plan != "" {
		if err := dir.Remove(reshardPlanFile, reshardFailureFile); err != nil {
			return err
		}
	}
	if err := dir.Reset(); err != nil {
		return err
	}
	dir.prune(shardsDir)
	return nil
}
