package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
)

// verb defines one way of reshaping. The zero verb with a name copies all records in order.
type verb struct {
	// name is the name of the command: "filter".
	name string
	// options are the verb's own effective options by flag name, for the manifest.
	options map[string]any
	// names are the displayed names of these options, by the same keys.
	names map[string]optname.Name
	// splits are the splits of the new set; nil keeps the splits of the inputs.
	splits []string
	// chooser selects the records to keep and their splits; nil keeps all, in their splits.
	chooser assign.Chooser
	// order is the order of the records in each split; nil keeps the order of the inputs.
	order assign.Ordering
	// groups, if not nil, are the directories of the sets in OUT; each split of each set is a
	// separate target: target = group*splits + split.
	groups []string
	// rewrite changes the records that are kept; nil leaves them unchanged.
	rewrite transfer.Rewriter
	// prepare is called once the inputs have been found and counted and dir, the output directory,
	// is locked and empty, before the records are read. It may change the verb. It may be nil.
	prepare func(ctx context.Context, in *source.Inputs, dir *setdir.Dir) error
	// advice returns a sentence to note about the inputs, based on their manifests; none if it is
	// empty. It may be nil.
	advice func(in *source.Inputs) string
	// describe makes the final changes to the manifest, whose features describe the records before
	// rewrite. It may be nil.
	describe func(m *manifest.Manifest) error
	// unknown is set if the result depends on a function of the caller's, so that no other run is
	// known to give the same result.
	unknown bool
}
