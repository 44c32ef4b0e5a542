package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard/internal/source"
)

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
	return planRun(ctx, in, out, &o.Options, v, o.Shuffle)
}
