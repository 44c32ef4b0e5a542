package distribute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
)

// Run is a planned run as seen by the process that planned it. That process has the parts read and the
// shards written, by any means, and then ends the run with Finish or Abandon. Until then it locks the
// output directory.
type Run struct {
	r     *rearrange.Run
	plan  *Plan
	held  *setdir.Dir // the directory of the plan
	outer *setdir.Dir // the directory whose set is replaced; nil if none is
	first *setdir.Dir // the directory as it was opened for planning; closed
	began time.Time
}

// Begin plans a run of a verb that keeps or shuffles all records in their splits, and prepares the
// output directory for it. Shards finished by an earlier run of the same plan are kept; what any other
// run left is removed.
func Begin(ctx context.Context, in []string, out string, o *rearrange.Options, v *rearrange.Verb, shuffle bool) (*Run, error) {
	run := &Run{began: time.Now()}
	var err error
	if run.r, err = rearrange.Open(ctx, in, out, o, v); err != nil {
		return nil, err
	}
	if run.r.Report.Status == rearrange.UpToDate {
		return run, nil
	}
	if run.r.Old == nil {
		if err := setdir.MustBeNew(ctx, storage.Parse(out), v.Name); err != nil { // before counting
			return nil, err
		}
	}
	if err := run.prepare(ctx, out, shuffle); err != nil {
		return nil, errors.Join(err, run.close())
	}
	return run, nil
}

// prepare makes the plan and stores it in the directory.
func (run *Run) prepare(ctx context.Context, out string, shuffle bool) error {
	r := run.r
	r.Dir = setdir.View(ctx, out) // until its purpose is known
	if err := r.Survey(ctx); err != nil {
		return err
	}
	r.Prepare()
	parts, err := planned(ctx, r, shuffle)
	if err != nil {
		return err
	}
	plan, err := json.Marshal(parts)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	r.PlanID = rearrange.HashText(plan)
	if r.Old != nil {
		if run.outer, err = setdir.Open(ctx, out, setdir.Options{}); err != nil {
			return err
		}
		out = run.outer.Join(setdir.StageDir)
		begun, err := setdir.View(ctx, out).State().Run()
		if err != nil {
			return err
		}
		if begun == nil || begun.Plan != r.PlanID {
			if err := run.outer.Staged().Discard(); err != nil {
				return err
			}
		}
	}
	dir, err := setdir.OpenOut(ctx, out, r.Verb.Name, r.PlanID, setdir.Options{})
	if err != nil {
		return err
	}
	run.use(dir)
	run.plan = &Plan{out: out, id: r.PlanID, memory: r.In.Memory, planned: *parts}
	here, err := os.Getwd()
	if err == nil {
		err = run.plan.complete(here)
	}
	if err == nil {
		err = run.leave(ctx, plan, here)
	}
	if err != nil {
		if run.plan.Kept() == 0 {
			err = errors.Join(err, setdir.Discard(dir, r.Files))
		}
		return errors.Join(err, dir.Close())
	}
	// From here on it is shared with the processes that write shards.
	run.first = dir
	if err := dir.Close(); err != nil {
		return err
	}
	run.held, err = run.plan.join(ctx)
	return err
}

// use sets the directory that the run writes to.
func (run *Run) use(dir *setdir.Dir) {
	run.r.Dir = dir
	for i := range run.r.Targets {
		run.r.Targets[i].Dir = dir
	}
}

// leave stores in the directory what other processes need: the names of the files to be written,
// and the plan with the shards that are finished.
func (run *Run) leave(ctx context.Context, plan json.RawMessage, here string) error {
	stored := storedReshard{
		Format: reshardFormat, Version: reshardVersion, ID: run.plan.id, Directory: setdir.InputKey(here), Memory: run.plan.memory,
		Kept: []int{}, Plan: plan,
	}
	all, err := run.plan.allDone(ctx, run.r.Dir)
	if err != nil {
		return err
	}
	for shard, done := range all {
		if done != nil {
			run.plan.kept[shard] = true
			stored.Kept = append(stored.Kept, shard)
		}
	}
	if err := run.r.Announce(); err != nil {
		return err
	}
	if err := run.r.Dir.Remove(setdir.ReshardFailureFile); err != nil {
		return err
	}
	return run.r.Dir.State().PutFile(setdir.ReshardPlanFile, &stored)
}

// Plan returns the plan, or nil if the set is up to date and only Finish remains to be called.
func (run *Run) Plan() *Plan { return run.plan }

// Finish checks the shards against the plan, writes the metadata, the manifest last, and ends the
// run. If it fails, finished shards are kept: repeating the run makes only the others.
func (run *Run) Finish(ctx context.Context) (*rearrange.Report, error) {
	if run.plan != nil {
		if err := run.finish(ctx); err != nil {
			return nil, errors.Join(err, run.close())
		}
	}
	run.r.Report.Seconds = time.Since(run.began).Seconds()
	return &run.r.Report, run.close()
}

func (run *Run) finish(ctx context.Context) error {
	p, r := run.plan, run.r
	for number := range p.Shards() {
		split, index := p.find(number)
		if p.layout[split].Start(index) < p.layout[split].Start(index+1) {
			continue
		}
		// A shard without records gets no batches.
		if _, err := p.Write(ctx, number, func(func([]byte, error) bool) {}); err != nil {
			return err
		}
	}
	if err := run.takeBack(ctx); err != nil {
		return err
	}
	all, err := p.allDone(ctx, r.Dir)
	if err != nil {
		return err
	}
	missing, first := 0, ""
	for number, done := range all {
		if done == nil {
			if missing++; missing == 1 {
				first = p.ShardFile(number)
			}
			continue
		}
		split, index := p.find(number)
		r.Targets[split].Infos[index] = done.Shard
		if r.In.Known {
			continue
		}
		seen := new(features.Scan)
		if err := json.Unmarshal(done.Seen, seen); err != nil {
			return fmt.Errorf("%s: its recorded state: %w", done.File, err)
		}
		r.Scans.All = append(r.Scans.All, seen)
	}
	if missing > 0 {
		return fmt.Errorf("%s: %d of %s missing, the first of them %s: run the same again to make them", p.out, missing, plural.Of(p.Shards(), "shard"), first)
	}
	if err := r.Finish(ctx); err != nil {
		return err
	}
	if run.outer == nil {
		return nil
	}
	err = r.Dir.Close()
	run.held = nil
	if err != nil {
		return err
	}
	return run.outer.Staged().Replace(r.Old)
}

// takeBack locks the directory for this run alone, once the other processes have left it.
func (run *Run) takeBack(ctx context.Context) error {
	if run.held == nil {
		return errOtherPlan(run.plan.out)
	}
	err := run.held.Close()
	run.held = nil
	if err != nil {
		return err
	}
	dir, err := setdir.OpenWhenFree(ctx, run.plan.out, setdir.Options{}, leaving)
	if err != nil {
		return err
	}
	dir.Inherit(run.first)
	run.held = dir
	run.use(dir)
	begun, err := run.r.Dir.State().Run()
	if err == nil && (begun == nil || begun.Plan != run.plan.id) {
		err = errOtherPlan(run.plan.out)
	}
	return err
}

// leaving is the time that processes writing shards get to notice that the run has ended.
const leaving = 10 * time.Second

// Abandon ends a run that failed with err, and returns the error to report: the error of a part or
// a shard if there is one, since err, from a runner, may only repeat its text. The directory is
// restored to its previous state, unless there are finished shards and the inputs are not damaged:
// then the shards are kept, and repeating the run makes the others. Abandon works after ctx is
// done, because that is often why the run failed.
func (run *Run) Abandon(ctx context.Context, err error) error {
	defer run.close()
	if run.plan == nil {
		return err
	}
	ctx, cancel := storage.Cleanup(ctx, 2*leaving)
	defer cancel()
	if busy := run.takeBack(ctx); busy != nil {
		return errors.Join(err, busy)
	}
	p, dir := run.plan, run.r.Dir
	if failure := p.failure(dir); failure != nil {
		err = failure
	}
	all, unknown := p.allDone(ctx, dir)
	finished := 0
	for _, done := range all {
		if done != nil {
			finished++
		}
	}
	var damage *shard.DamagedError
	if unknown != nil {
		return errors.Join(err, unknown)
	}
	if finished > 0 && !errors.As(err, &damage) {
		return fmt.Errorf("%w; %d of %s finished and kept: run the same again to make the others", err, finished, plural.Of(p.Shards(), "shard"))
	}
	err = errors.Join(err, setdir.Discard(dir, run.r.Files))
	if run.outer != nil {
		err = errors.Join(err, dir.Close(), run.outer.Staged().Abandon())
		run.held = nil
	}
	return err
}

// Release gives up what a run holds without ending it, as if its process had been killed, for tests.
func Release(run *Run) error { return run.close() }

// close releases the directories.
func (run *Run) close() error {
	var err error
	for _, dir := range []*setdir.Dir{run.held, run.outer} {
		if dir != nil {
			err = errors.Join(err, dir.Close())
		}
	}
	run.held, run.outer = nil, nil
	return err
}
