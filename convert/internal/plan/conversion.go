package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Run scans an input, opens the output directory, plans with regard to the results of an earlier
// run there, and executes the plan.
func Run(ctx context.Context, in Input, out string) (*Summary, error) {
	began := time.Now()
	defer in.Close()
	if err := in.Scan(ctx, out); err != nil {
		return nil, err
	}
	o := in.Shared()
	dir, err := setdir.View(ctx, out), error(nil)
	if !o.DryRun {
		if dir, err = setdir.Open(ctx, out, setdir.Options{Join: o.Task != nil, Note: o.Note}); err != nil {
			return nil, err
		}
	}
	defer dir.Close()
	r, before, err := planInto(ctx, in, dir, began)
	if err != nil {
		return nil, err
	}
	sum, err := r.execute(ctx, before)
	return sum, r.unfinished(ctx, err)
}

// planInto plans the run of a scanned input into a directory, with regard to the results of an
// earlier run there.
func planInto(ctx context.Context, in Input, dir *setdir.Dir, began time.Time) (*run, *Previous, error) {
	before, err := readPrevious(dir)
	if err != nil {
		return nil, nil, err
	}
	src, err := in.Plan(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	r, err := newRun(in.Shared(), src)
	if err != nil {
		return nil, nil, err
	}
	r.dir, r.began = dir, began
	r.source.Attach(dir)
	return r, before, nil
}

// unfinished adds the number of shards that are kept to the error that ended the run.
func (r *run) unfinished(ctx context.Context, err error) error {
	var bad *BadSamplesError
	if err == nil || errors.As(err, &bad) {
		return err
	}
	finished := r.progress.Kept.Load() + r.progress.Finished.Load()
	kept := fmt.Sprintf("%d of %s finished and kept, the same command resumes from there", finished, plural.Of(len(r.shards), "shard"))
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: %w", kept, ctx.Err())
	case r.progress.Finished.Load() > 0:
		err = fmt.Errorf("%w (%s)", err, kept)
	}
	return err
}
