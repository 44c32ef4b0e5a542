package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// ReshardOptions are the options of Reshard. SortBy excludes Shuffle and GroupBy.
type ReshardOptions struct {
	Options
	// Shuffle puts the records of each split into a random order over all of its shards, determined
	// by Seed.
	Shuffle bool
	// SortBy is the key of a feature to sort the records of each split by, using its first value:
	// numbers numerically, bytes bytewise. The sort is stable; records without a value come last.
	SortBy string
	// GroupBy is the key of a feature: the records of each of its values become a separate set, in
	// a subdirectory of OUT named after the value.
	GroupBy string
}

// Reshard makes a new set in the directory out from all records of the inputs, in different shards.
// Records stay in their splits.
func Reshard(ctx context.Context, in []string, out string, o ReshardOptions) (*Report, error) {
	v, err := o.verb()
	if err != nil {
		return nil, err
	}
	return rearrange.Make(ctx, in, out, &o.Options, v)
}

func (o *ReshardOptions) verb() (*rearrange.Verb, error) {
	v := newVerb("reshard")
	v.Options = map[string]any{}
	switch {
	case o.SortBy != "" && o.Shuffle:
		return nil, source.OptionError(optname.ReshardOptionsSortBy, "it excludes %s", optname.ReshardOptionsShuffle)
	case o.SortBy != "" && o.GroupBy != "":
		return nil, source.OptionError(optname.ReshardOptionsSortBy, "it excludes %s: sort the set first, since groups keep its order", optname.ReshardOptionsGroupBy)
	case o.SortBy != "":
		order := new(assign.Sorted)
		v.Order = order
		v.Resolve = func(ctx context.Context, in *source.Inputs) (err error) {
			order.Key, err = in.Feature(ctx, optname.ReshardOptionsSortBy, o.SortBy)
			v.Options["sort_by"] = order.Key
			return err
		}
	}
	if o.Shuffle {
		v.Options["shuffle"] = true
		v.Order = &assign.Shuffled{Seed: o.Seed}
	}
	if o.GroupBy != "" {
		g := new(grouper)
		v.Chooser = g
		v.Resolve = func(ctx context.Context, in *source.Inputs) (err error) {
			g.key, err = in.Feature(ctx, optname.ReshardOptionsGroupBy, o.GroupBy)
			v.Options["group_by"] = g.key
			return err
		}
		v.Prepare = func(ctx context.Context, in *source.Inputs, _ *setdir.Dir) error { return g.prepare(ctx, in, v) }
	}
	return v, nil
}

// Merge merges several sets into one in the directory out: splits of the same name are concatenated
// in the order of the inputs. If lists of label names differ, they are merged and the ids in the
// records are changed to match; features with the same key must have the same kind.
func Merge(ctx context.Context, in []string, out string, o Options) (*Report, error) {
	return rearrange.Make(ctx, in, out, &o, newVerb("merge"))
}
