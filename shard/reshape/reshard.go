package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/setdir"
)

// ReshardOptions says how Reshard puts records into shards. SortBy excludes
// Shuffle and GroupBy.
type ReshardOptions struct {
	ReshapeOptions
	// Shuffle puts the records of each split into a random order over all of its
	// shards, which Seed tells.
	Shuffle bool
	// SortBy is the key of a feature that the records of each split are sorted by:
	// by its first value, numbers by their size and bytes as bytes. Records of
	// equal values keep their order; those without a value come last.
	SortBy string
	// GroupBy is the key of a feature: a set is made of the records of each of its
	// values, in a directory of that name in OUT.
	GroupBy string
}

// Reshard makes a new set in the directory out of all records of the inputs, with
// other shards. Splits stay what they are.
func Reshard(ctx context.Context, in []string, out string, o ReshardOptions) (*ReshapeReport, error) {
	v, err := o.verb()
	if err != nil {
		return nil, err
	}
	return reshape(ctx, in, out, &o.ReshapeOptions, v)
}

func (o *ReshardOptions) verb() (*verb, error) {
	v := &verb{name: "reshard", options: map[string]any{}}
	switch {
	case o.SortBy != "" && o.Shuffle:
		return nil, optionError("ReshardOptions.SortBy", "it excludes ReshardOptions.Shuffle")
	case o.SortBy != "" && o.GroupBy != "":
		return nil, optionError("ReshardOptions.SortBy", "it excludes ReshardOptions.GroupBy: sort the set first, since groups keep its order")
	case o.SortBy != "":
		v.options["sort_by"] = o.SortBy
		v.order = &sorted{key: o.SortBy}
		v.prepare = func(_ context.Context, in *inputs, _ *setdir.Dir) error {
			return in.checkFeature("ReshardOptions.SortBy", o.SortBy)
		}
	}
	if o.Shuffle {
		v.options["shuffle"] = true
		v.order = &shuffled{seed: o.Seed}
	}
	if o.GroupBy != "" {
		v.options["group_by"] = o.GroupBy
		g := &grouper{key: o.GroupBy}
		v.chooser = g
		v.prepare = func(ctx context.Context, in *inputs, _ *setdir.Dir) error { return g.prepare(ctx, in, v) }
	}
	return v, nil
}

// Merge makes one set in the directory out of several: their splits of one name
// become one, in the order of the inputs. Lists of label names that differ
// become one, and the ids in the records are changed to fit; features of one
// key must be of one kind.
func Merge(ctx context.Context, in []string, out string, o ReshapeOptions) (*ReshapeReport, error) {
	return reshape(ctx, in, out, &o, &verb{name: "merge"})
}
