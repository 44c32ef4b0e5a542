package rearrange

import (
	"context"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
)

// Verb defines one way of reshaping. The zero verb with a name copies all records in order.
type Verb struct {
	// Name is the name of the command: "filter".
	Name string
	// Options are the verb's own effective options by flag name, for the manifest.
	Options map[string]any
	// Names are the displayed names of these options, by the same keys.
	Names map[string]optname.Name
	// Splits are the splits of the new set; nil keeps the splits of the inputs.
	Splits []string
	// Chooser selects the records to keep and their splits; nil keeps all, in their splits.
	Chooser assign.Chooser
	// Order is the order of the records in each split; nil keeps the order of the inputs.
	Order assign.Ordering
	// Groups, if not nil, are the directories of the sets in OUT; each split of each set is a
	// separate target: target = group*splits + split.
	Groups []string
	// Rewrite changes the records that are kept; nil leaves them unchanged.
	Rewrite transfer.Rewriter
	// Resolve finds the features that options name, before Options are compared with those of the set
	// that is there. It may be nil.
	Resolve func(ctx context.Context, in *source.Inputs) error
	// Prepare is called once the inputs have been found and counted and dir, the output directory,
	// is locked and empty, before the records are read. It may change the verb. It may be nil.
	Prepare func(ctx context.Context, in *source.Inputs, dir *setdir.Dir) error
	// Advice returns a sentence to note about the inputs, based on their manifests; none if it is
	// empty. It may be nil.
	Advice func(in *source.Inputs) string
	// Describe makes the final changes to the manifest, whose features describe the records before
	// rewrite. It may be nil.
	Describe func(m *manifest.Manifest) error
	// Unknown is set if the result depends on a function of the caller's, so that no other run is
	// known to give the same result.
	Unknown bool
}
