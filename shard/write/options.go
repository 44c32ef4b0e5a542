package write

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options configures Create. The zero value is a sensible default.
type Options struct {
	// Name of the dataset: lower-case letters, digits and underscores. Default: the base name of the
	// directory in snake case.
	Name string
	// Seed of the hashes that decide the split and the place of a record. Default: 0.
	Seed uint64
	// Splits by ratio, for records that state no split (see Example.Split). Default: all in "train".
	// A key belongs to the same split as in a conversion with the same seed.
	Splits []shard.SplitShare
	// Shards in each split, from 1 to 99,999. Default: about 128 MiB a shard, but at least
	// min(16, records/64) and one.
	Shards int
	// SplitShards are the numbers of shards by split, if Shards is 0. For other splits the number is
	// chosen.
	SplitShards map[string]int
	// InOrder keeps records in the order in which they were written, in one split or in several,
	// instead of ordering them by the hashes of their keys. Write them from one goroutine, and keys
	// may then be empty or repeated. Without InOrder every record needs a key of its own.
	InOrder bool
	// Compression of the shards. Default: none. Compressed shards have no index, and TFDS cannot read
	// them.
	Compression tfrecord.Compression

	// Labels are the names of the labels; the id of a label is its index. Default: labels have no
	// names, and features that hold them are plain numbers.
	Labels []string
	// LabelKey is the feature with the label ids; ids from -1 (no label) to len(Labels)-1 are
	// allowed. Default: "label".
	LabelKey string
	// Features states features whose class, shape or data type the values do not show: tensors in
	// bytes, images of a fixed size, further labels. Others are inferred. A record that contradicts a
	// stated kind, or has another number of values, makes Finish fail.
	Features []manifest.Feature
	// Supervised names the input and the target feature for TFDS's as_supervised. Default: none.
	Supervised *manifest.Supervised

	// MaxErrors is the number of bad samples (see Set.Bad) that Finish allows. Default: 0.
	MaxErrors int64
	// Memory is an upper bound, in bytes, on the memory for sorting; the rest is in a temporary file
	// in the directory. A larger record takes several times its size. Default: 256 MiB.
	Memory int64
	// Overwrite replaces the set in the directory, in one step when all of the new one is written. In
	// an object store, that is not possible and an error.
	Overwrite bool
	// Note, if not nil, is called with sentences that users should read, such as that a split is
	// empty. The report repeats the notes of Finish.
	Note func(sentence string)
}

const (
	defaultMemory   = 256 << 20
	defaultLabelKey = "label"
	// maxSplits is the number of splits that the first byte of a row can number.
	maxSplits = 256
)

// optionError returns an error about the named field of Options.
func optionError(field, format string, args ...any) error {
	return &shard.OptionError{Field: "Options." + field, Err: fmt.Errorf(format, args...)}
}

// check validates the options and fills in defaults. Dir is the path of the set.
func (o *Options) check(dir string) error {
	if o.Name == "" {
		name, err := setdir.DatasetName(dir)
		if err != nil {
			return err
		}
		o.Name = name
	}
	if err := shard.CheckDataset(o.Name); err != nil {
		return optionError("Name", "%w", err)
	}
	if len(o.Splits) > maxSplits {
		return optionError("Splits", "%d splits are more than %d", len(o.Splits), maxSplits)
	}
	if len(o.Splits) > 0 {
		if err := shares.CheckSplits(o.Splits); err != nil {
			return optionError("Splits", "%w", err)
		}
	}
	if err := shares.CheckShards(o.Shards, nil); err != nil {
		return optionError("Shards", "%w", err)
	}
	if err := shares.CheckShards(o.Shards, o.SplitShards); err != nil {
		return optionError("SplitShards", "%w", err)
	}
	if o.Compression > tfrecord.CompressionZstd {
		return optionError("Compression", "unknown compression %d", o.Compression)
	}
	if o.MaxErrors < 0 {
		return optionError("MaxErrors", "%d is negative", o.MaxErrors)
	}
	if o.Memory < 0 {
		return optionError("Memory", "%d is negative", o.Memory)
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	return o.checkFeatures()
}

// checkFeatures validates the options about features and labels.
func (o *Options) checkFeatures() error {
	if o.LabelKey != "" && len(o.Labels) == 0 {
		return optionError("LabelKey", "%q has label ids, but %s has no names", o.LabelKey, optname.OptionsLabels)
	}
	if o.LabelKey == "" {
		o.LabelKey = defaultLabelKey
	}
	if err := labels.CheckNames(o.Labels); err != nil {
		return optionError("Labels", "%w", err)
	}
	if err := manifest.CheckFeatures(o.Features, o.Labels, nil); err != nil {
		return optionError("Features", "%w", err)
	}
	if len(o.Labels) == 0 && manifest.LabelKeys(o.Features) != nil {
		return optionError("Features", "feature %q is a label, but %s has no names", manifest.LabelKeys(o.Features)[0], optname.OptionsLabels)
	}
	if s := o.Supervised; s != nil && (s.Input == "" || s.Target == "" || s.Input == s.Target) {
		return optionError("Supervised", "want two features, not %q and %q", s.Input, s.Target)
	}
	return nil
}
