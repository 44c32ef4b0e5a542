package plan

import (
	"context"
	"slices"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// Whether a shard is done is decided by fingerprints, shard by shard: a run after a change of the input
// makes only the shards that it affects. Whether the set may be updated at all is decided before, by
// its options: see difference.

// keepWhatIsUpToDate fills in done and kept for the shards whose fingerprint equals what this run
// would make: in the set p, or staged by an interrupted run.
func (r *run) keepWhatIsUpToDate(ctx context.Context, p *Previous) error {
	if p == nil && r.stage == nil {
		return nil
	}
	listed := map[string]manifest.Shard{}
	if p != nil && p.manifest != nil {
		for _, s := range p.manifest.Splits {
			for _, info := range s.Shards {
				listed[info.File] = info
			}
		}
	}
	var mine []int
	var files []string
	for i, j := range r.shards {
		if r.mine(i) {
			mine, files = append(mine, i), append(files, j.Name.String())
		}
	}
	recall := r.source.Recall(mine)
	if recall == nil {
		recall = new(setdir.Recall)
	}
	recall.Listed = listed
	staged, placed, err := r.allDone(ctx, files, r.HashInputs, recall)
	if err != nil {
		return err
	}
	for n, i := range mine {
		done, inPlace, err := r.current(ctx, i, staged[n], placed[n], listed[files[n]])
		if err != nil {
			return err
		}
		if done != nil {
			r.done[i], r.kept[i], r.inPlace[i] = done, true, inPlace
		}
	}
	return nil
}

// allDone returns the state of staged shards, and of those in place; recall, if not nil, receives
// their inputs. A set that will be overwritten counts as one without shards.
func (r *destination) allDone(ctx context.Context, files []string, content bool, recall *setdir.Recall) (staged, placed []*setdir.Done, err error) {
	staged = make([]*setdir.Done, len(files))
	if r.stage != nil {
		if staged, err = r.stage.Shards().AllDone(ctx, files, content, recall); err != nil {
			return nil, nil, err
		}
	}
	if r.overwrites {
		return staged, make([]*setdir.Done, len(files)), nil
	}
	placed, err = r.dir.Shards().AllDone(ctx, files, content, recall)
	return staged, placed, err
}

// current returns the state of an up-to-date shard, staged or else in place; nil if there is
// none.
func (r *run) current(ctx context.Context, i int, staged, placed *setdir.Done, listed manifest.Shard) (done *setdir.Done, inPlace bool, err error) {
	if staged != nil {
		done, err = r.upToDate(ctx, r.stage, i, staged, manifest.Shard{})
		if done != nil || err != nil {
			return done, false, err
		}
	}
	done, err = r.upToDate(ctx, r.dir, i, placed, listed)
	return done, true, err
}

// made returns the state of a shard that another process made in the meantime; nil if there
// is none that is up to date.
func (r *run) made(ctx context.Context, i int) (*setdir.Done, error) {
	staged, placed, err := r.allDone(ctx, []string{r.shards[i].Name.String()}, r.HashInputs, r.source.Recall([]int{i}))
	if err != nil {
		return nil, err
	}
	done, _, err := r.current(ctx, i, staged[0], placed[0], manifest.Shard{})
	return done, err
}

// upToDate returns the state of a shard in a directory if its fingerprint equals the one that this
// run would compute, nil otherwise. done is the existing state and listed the manifest's
// entry, which is zero for an unlisted shard.
func (r *run) upToDate(ctx context.Context, dir *setdir.Dir, i int, done *setdir.Done, listed manifest.Shard) (*setdir.Done, error) {
	j := r.shards[i]
	file := j.Name.String()
	// Without a state, the manifest describes a complete shard well enough. Only a state records
	// missing samples and annotations.
	stateless := done == nil
	if stateless && !r.movesObjects() && listed.File == file && listed.Records == j.Samples && dir.Shards().HasContent(listed) && (!r.uncompressed() || dir.Shards().HasIndex(file)) {
		done = &setdir.Done{Shard: listed, Samples: j.Samples}
	}
	if done == nil {
		return nil, nil
	}
	identity, bad, read, err := r.source.Known(ctx, i, done.Bad)
	if err != nil {
		return nil, err
	}
	f := r.shardFingerprint(file)
	f.h.Write(identity)
	if f.String() != done.Fingerprint {
		return nil, nil
	}
	restamped, relisted := done.Plan != r.plan.id(), !slices.Equal(bad, done.Bad)
	done.Bad = bad
	if (read || stateless || restamped || relisted) && !r.DryRun {
		// So that the next run need not read it all again.
		done.Source, done.Inputs, done.Plan = r.source.Place(), r.source.Inputs(i), r.plan.id()
		if err := dir.Shards().PutDone(done); err != nil {
			return nil, err
		}
		done.Inputs = nil // they are recorded, and would take more memory than the plan
	}
	return done, nil
}
