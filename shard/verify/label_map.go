package verify

import (
	"context"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// checkLabelMap compares the label map with the labels of the manifest, if the manifest lists one.
// It ignores formatting.
func checkLabelMap(ctx context.Context, s *shard.Set) (faults []shard.Fault, err error) {
	if !s.LabelMap {
		return nil, nil
	}
	fault := func(part tfrecord.Part, format string, args ...any) []shard.Fault {
		return []shard.Fault{shard.FileFault(s.Path(manifest.LabelMapFile), part, format, args...)}
	}
	names, err := labelmap.ReadNames(ctx, s.Path(manifest.LabelMapFile))
	switch {
	case err != nil && recordscan.IsDamage(err):
		return fault(tfrecord.PartParse, "%v", err), nil
	case err != nil:
		return nil, err
	case names == nil:
		return fault(tfrecord.PartMissing, "the manifest says that there is a label map, but it does not exist (%s writes it)", optname.RepairAdopt), nil
	case !labelmap.Equal(names, s.Labels):
		return fault(tfrecord.PartHeader, "its ids and names are not those of the manifest"), nil
	}
	return nil, nil
}
