package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard/internal/distribute"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// ReshardPlan is a Reshard divided into steps for many machines that share the same files: parts of
// the inputs, each of which Read distributes to the shards that its records belong to, and shards,
// each of which Write makes from everything distributed to it. The system that moves records from
// Read to Write, such as Apache Beam's GroupByKey, need not keep any order: each record carries its
// position. The resulting set has the same bytes as with Reshard.
//
// [PlanReshard] makes a plan and stores it in the output directory, where [OpenReshardPlan] finds
// it. Parts and shards may be processed concurrently and more than once, even at the same time. A
// plan is safe for concurrent use.
//
//   - ID identifies the plan, and Out is the directory that the shards are written to.
//   - Parts, Shards and Records return their numbers; parts and shards are numbered from 0. ShardFile
//     returns the name of a shard's file.
//   - Kept returns the number of shards finished by an earlier run of the same plan. Read passes no
//     records to them.
type ReshardPlan = distribute.Plan

// ReshardCounts are the counts of a part or a shard: Records, and Bytes of the frames or, for a shard,
// of the file. Kept is set if the shard was finished already.
type ReshardCounts = distribute.Counts

// ReshardRun is a planned Reshard as seen by the process that planned it. That process has the
// parts read and the shards written, by any means, and then ends the run with Finish or Abandon.
// Until then it locks the output directory. Plan returns nil if the set is up to date.
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
type ReshardRun = distribute.Run

// PlanReshard plans a Reshard and prepares the output directory for it: it counts the inputs,
// checks them against their manifests, and returns the errors that Reshard would. Shards finished
// by an earlier run of the same plan are kept; what any other run left is removed. SortBy and
// GroupBy are not supported.
func PlanReshard(ctx context.Context, in []string, out string, o ReshardOptions) (*ReshardRun, error) {
	switch {
	case o.SortBy != "":
		return nil, source.OptionError(optname.ReshardOptionsSortBy, "only one machine can do it: %s", optname.ReshapeReshard.With(optname.ReshardOptionsSortBy))
	case o.GroupBy != "":
		return nil, source.OptionError(optname.ReshardOptionsGroupBy, "only one machine can do it: %s", optname.ReshapeReshard.With(optname.ReshardOptionsGroupBy))
	}
	v, err := o.verb()
	if err != nil {
		return nil, err
	}
	return distribute.Begin(ctx, in, out, &o.Options, v, o.Shuffle)
}

// OpenReshardPlan reads the plan with the given ID from an output directory. It returns an error if
// the plan is missing or another one, because its run has ended.
func OpenReshardPlan(ctx context.Context, out, id string) (*ReshardPlan, error) {
	return distribute.OpenPlan(ctx, out, id)
}
