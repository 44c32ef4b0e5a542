package rearrange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// undoPatience limits how long files that an interrupted run wrote to an object store are being
// removed, unless a user waits: see storage.Cleanup. The next run removes the rest.
const undoPatience = 30 * time.Second

// undo removes the files that the run wrote. In an object store the file names stay in the run's
// state: an abandoned request may still be executed and leave a file that the next run has to know
// about. Requests end with the run's context, so undo uses a fresh one if that is done.
func (r *Run) undo(ctx context.Context) error {
	if !r.Dir.Remote() {
		return setdir.Discard(r.Dir, r.Files)
	}
	files := append(slices.Clone(r.Files), shard.StateDir+"/"+setdir.FinishedFile)
	if ctx.Err() == nil {
		return errors.Join(r.Dir.Remove(files...), r.Dir.Sweep())
	}
	ctx, cancel := storage.Cleanup(ctx, undoPatience)
	defer cancel()
	err := r.undoAgain(ctx, files)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s may still contain what the run wrote: the next run of the same verb removes it", r.Dir.Path())
	}
	return err
}

// undoAgain removes files after the context that the directory was opened with has ended.
func (r *Run) undoAgain(ctx context.Context, files []string) error {
	if err := r.Dir.Close(); err != nil {
		return err
	}
	dir, err := setdir.Open(ctx, r.Dir.Path(), setdir.Options{})
	if err != nil {
		return err
	}
	// This process may have been suspended so long that another run has used the directory in the
	// meantime; leave that run's files alone.
	run, err := dir.State().Run()
	if err != nil || run == nil || len(run.Files) > len(r.Files) || !slices.Equal(run.Files, r.Files[:len(run.Files)]) {
		return errors.Join(err, dir.Close())
	}
	return errors.Join(dir.Remove(files...), dir.Sweep(), dir.Close())
}
