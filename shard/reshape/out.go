package reshape

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// refuseOverlap refuses an output directory that is, holds or lies in one of the
// inputs: what is read must not change, and no set must hold another.
func refuseOverlap(ctx context.Context, paths []string, in *inputs, out string) error {
	to, err := setdir.Resolve(out)
	if err != nil {
		return err
	}
	for _, f := range in.files {
		from, err := setdir.Resolve(f.Path)
		if err != nil {
			return err
		}
		if setdir.LiesIn(from, to) {
			return fmt.Errorf("%s is the input %s or contains it: give a directory elsewhere", out, f.Path)
		}
	}
	for _, path := range directories(ctx, paths, storage.Remote(out)) {
		if dir, err := setdir.Resolve(path); err == nil && setdir.LiesIn(to, dir) {
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
			if storage.IsDir(ctx, match) {
				dirs = append(dirs, match)
			}
		}
	}
	return dirs
}

// undoPatience is how long what an interrupted run wrote into a store is removed.
// What is left then, the next run removes.
const undoPatience = 30 * time.Second

// undo removes what the run wrote. In a store the names of it stay in the state: a
// request that was given up may yet be carried out, and leave a file that the next run
// has to know. What is asked of a store ends with the run's context, so that once that
// is done it takes another one.
func (r *reshaping) undo(ctx context.Context) error {
	if !storage.Remote(r.dir.Path()) {
		return setdir.Discard(r.dir, r.files)
	}
	files := append(slices.Clone(r.files), shard.StateDir+"/"+setdir.FinishedFile)
	if ctx.Err() == nil {
		return errors.Join(r.dir.Remove(files...), r.dir.Sweep())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	if err := r.dir.Close(); err != nil {
		return err
	}
	dir, err := setdir.Open(ctx, r.dir.Path(), setdir.Options{Names: shard.ManifestFiles})
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
