package reshape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// ReshardRun is a planned Reshard as seen by the process that planned it. That process has the
// parts read and the shards written, by any means, and then ends the run with Finish or Abandon.
// Until then it locks the output directory.
//
//	run, err := reshape.PlanReshard(ctx, in, out, options)
//	if err != nil {
//		return err
//	}
//	if plan := run.Plan(); plan != nil { // else the set is up to date
//		if err := doPartsAndShards(plan); err != nil {
//			return run.Abandon(ctx, err)
//		}
//	}
//	report, err := run.Finish(ctx)
type ReshardRun struct {
	r     *reshaping
	plan  *ReshardPlan
	held  *setdir.Dir // the directory of the plan
	outer *setdir.Dir // the directory whose set is replaced; nil if none is
	first *setdir.Dir // the directory as it was opened for planning; closed
	began time.Time
}

// PlanReshard plans a Reshard and prepares the output directory for it: it counts the inputs,
// checks them against their manifests, and returns the errors that Reshard would. Shards finished
// by an earlier run of the same plan are kept; what any other run left is removed. SortBy and
// GroupBy are not supported.
func PlanReshard(ctx context.Context, in []string, out string, o ReshardOptions) (*ReshardRun, error) {
	switch {
	case o.SortBy != "":
		return nil, optionError(optname.ReshardOptionsSortBy, "only one machine can do it: %s", optname.ReshapeReshard.With(optname.ReshardOptionsSortBy))
	case o.GroupBy != "":
		return nil, optionError(optname.ReshardOptionsGroupBy, "only one machine can do it: %s", optname.ReshapeReshard.With(optname.ReshardOptionsGroupBy))
	}
	v, err := o.verb()
	if err != nil {
		return nil, err
	}
	run := &ReshardRun{began: time.Now()}
	if run.r, err = openReshaping(ctx, in, out, &o.Options, v); err != nil {
		return nil, err
	}
	if run.r.report.Status == upToDate {
		return run, nil
	}
	if run.r.old == nil {
		if err := setdir.MustBeNew(ctx, storage.Parse(out), v.name); err != nil { // before counting
			return nil, err
		}
	}
	if err := run.prepare(ctx, out, o.Shuffle); err != nil {
		return nil, errors.Join(err, run.close())
	}
	return run, nil
}

// prepare makes the plan and stores it in the directory.
func (run *ReshardRun) prepare(ctx context.Context, out string, shuffle bool) error {
	r := run.r
	r.dir = setdir.View(ctx, out) // until its purpose is known
	if err := r.survey(ctx); err != nil {
		return err
	}
	r.prepare()
	planned, err := r.planned(ctx, shuffle)
	if err != nil {
		return err
	}
	plan, err := json.Marshal(planned)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	r.planID = hashText(plan)
	if r.old != nil {
		if run.outer, err = setdir.Open(ctx, out, setdir.Options{}); err != nil {
			return err
		}
		out = run.outer.Join(setdir.StageDir)
		begun, err := setdir.View(ctx, out).State().Run()
		if err != nil {
			return err
		}
		if begun == nil || begun.Plan != r.planID {
			if err := run.outer.Staged().Discard(); err != nil {
				return err
			}
		}
	}
	dir, err := setdir.OpenOut(ctx, out, r.verb.name, r.planID, setdir.Options{})
	if err != nil {
		return err
	}
	run.use(dir)
	run.plan = &ReshardPlan{out: out, id: r.planID, memory: r.o.memory(), planned: *planned}
	here, err := os.Getwd()
	if err == nil {
		err = run.plan.complete(here)
	}
	if err == nil {
		err = run.leave(ctx, plan, here)
	}
	if err != nil {
		if run.plan.Kept() == 0 {
			err = errors.Join(err, setdir.Discard(dir, r.files))
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
func (run *ReshardRun) use(dir *setdir.Dir) {
	run.r.dir = dir
	for i := range run.r.targets {
		run.r.targets[i].dir = dir
	}
}

// leave stores in the directory what other processes need: the names of the files to be written,
// and the plan with the shards that are finished.
func (run *ReshardRun) leave(ctx context.Context, plan json.RawMessage, here string) error {
	stored := storedReshard{
		Format: reshardFormat, Version: reshardVersion, ID: run.plan.id, Directory: setdir.InputKey(here), Memory: run.plan.memory,
		Kept: []int{}, Plan: plan,
	}
	all, err := run.plan.allDone(ctx, run.r.dir)
	if err != nil {
		return err
	}
	for shard, done := range all {
		if done != nil {
			run.plan.kept[shard] = true
			stored.Kept = append(stored.Kept, shard)
		}
	}
	if err := run.r.announce(); err != nil {
		return err
	}
	if err := run.r.dir.Remove(setdir.ReshardFailureFile); err != nil {
		return err
	}
	return run.r.dir.State().PutFile(setdir.ReshardPlanFile, &stored)
}

// Plan returns the plan, or nil if the set is up to date and only Finish remains to be called.
func (run *ReshardRun) Plan() *ReshardPlan { return run.plan }

// Finish checks the shards against the plan, writes the metadata, the manifest last, and ends the
// run. If it fails, finished shards are kept: repeating the run makes only the others.
func (run *ReshardRun) Finish(ctx context.Context) (*Report, error) {
	if run.plan != nil {
		if err := run.finish(ctx); err != nil {
			return nil, errors.Join(err, run.close())
		}
	}
	run.r.report.Seconds = time.Since(run.began).Seconds()
	return &run.r.report, run.close()
}

func (run *ReshardRun) finish(ctx context.Context) error {
	p, r := run.plan, run.r
	for number := range p.Shards() {
		split, index := p.find(number)
		if p.layout[split].start(index) < p.layout[split].start(index+1) {
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
	all, err := p.allDone(ctx, r.dir)
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
		r.targets[split].infos[index] = done.Shard
		if r.in.known {
			continue
		}
		seen := new(features.Scan)
		if err := json.Unmarshal(done.Seen, seen); err != nil {
			return fmt.Errorf("%s: its recorded state: %w", done.File, err)
		}
		r.scans.All = append(r.scans.All, seen)
	}
	if missing > 0 {
		return fmt.Errorf("%s: %d of %s missing, the first of them %s: run the same again to make them", p.out, missing, plural.Of(p.Shards(), "shard"), first)
	}
	if err := r.finish(ctx); err != nil {
		return err
	}
	if run.outer == nil {
		return nil
	}
	err = r.dir.Close()
	run.held = nil
	if err != nil {
		return err
	}
	return run.outer.Staged().Replace(r.old)
}

// takeBack locks the directory for this run alone, once the other processes have left it.
func (run *ReshardRun) takeBack(ctx context.Context) error {
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
	begun, err := run.r.dir.State().Run()
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
func (run *ReshardRun) Abandon(ctx context.Context, err error) error {
	defer run.close()
	if run.plan == nil {
		return err
	}
	ctx, cancel := storage.Cleanup(ctx, 2*leaving)
	defer cancel()
	if busy := run.takeBack(ctx); busy != nil {
		return errors.Join(err, busy)
	}
	p, dir := run.plan, run.r.dir
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
	err = errors.Join(err, setdir.Discard(dir, run.r.files))
	if run.outer != nil {
		err = errors.Join(err, dir.Close(), run.outer.Staged().Abandon())
		run.held = nil
	}
	return err
}

// close releases the directories.
func (run *ReshardRun) close() error {
	var err error
	for _, dir := range []*setdir.Dir{run.held, run.outer} {
		if dir != nil {
			err = errors.Join(err, dir.Close())
		}
	}
	run.held, run.outer = nil, nil
	return err
}
