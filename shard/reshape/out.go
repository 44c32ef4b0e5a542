package reshape

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// mustBeApart returns an error if the output directory overlaps with the inputs.
func mustBeApart(ctx context.Context, paths []string, in *inputs, out string) error {
	from := directories(ctx, paths, storage.Remote(out))
	for _, f := range in.files {
		from = append(from, f.Path)
	}
	return setdir.MustBeApart(out, from...)
}

// directories returns the directories that paths refer to as a whole: those in object stores if
// remote, otherwise the local ones.
func directories(ctx context.Context, paths []string, remote bool) []string {
	var dirs []string
	for _, path := range paths {
		at := storage.Parse(path)
		if at.Remote() != remote {
			continue
		}
		matches := []string{path}
		if _, err := at.Stat(ctx); err != nil {
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

// undoPatience limits how long files that an interrupted run wrote to an object store are being
// removed, unless a user waits: see storage.Cleanup. The next run removes the rest.
const undoPatience = 30 * time.Second

// undo removes the files that the run wrote. In an object store the file names stay in the run's
// state: an abandoned request may still be executed and leave a file that the next run has to know
// about. Requests end with the run's context, so undo uses a fresh one if that is done.
func (r *reshaping) undo(ctx context.Context) error {
	if !r.dir.Remote() {
		return setdir.Discard(r.dir, r.files)
	}
	files := append(slices.Clone(r.files), shard.StateDir+"/"+setdir.FinishedFile)
	if ctx.Err() == nil {
		return errors.Join(r.dir.Remove(files...), r.dir.Sweep())
	}
	ctx, cancel := storage.Cleanup(ctx, undoPatience)
	defer cancel()
	err := r.undoAgain(ctx, files)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s may still contain what the run wrote: the next run of the same verb removes it", r.dir.Path())
	}
	return err
}

// undoAgain removes files after the context that the directory was opened with has ended.
func (r *reshaping) undoAgain(ctx context.Context, files []string) error {
	if err := r.dir.Close(); err != nil {
		return err
	}
	dir, err := setdir.Open(ctx, r.dir.Path(), setdir.Options{})
	if err != nil {
		return err
	}
	// This process may have been suspended so long that another run has used the directory in the
	// meantime; leave that run's files alone.
	run, err := dir.State().Run()
	if err != nil || run == nil || len(run.Files) > len(r.files) || !slices.Equal(run.Files, r.files[:len(run.Files)]) {
		return errors.Join(err, dir.Close())
	}
	return errors.Join(dir.Remove(files...), dir.Sweep(), dir.Close())
}
