package reshape

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sort"

	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

const (
	leastMemory   = 1e6 // minimum of Options.Memory
	defaultMemory = 256 << 20
)

// optionError returns an error about an option, either a struct field or a function argument.
func optionError(option optname.Name, format string, args ...any) error {
	return &shard.OptionError{Field: option.String(), Err: fmt.Errorf(format, args...)}
}

// optionNames maps the keys of options in manifests and run states to their names.
var optionNames = map[string]optname.Name{
	"name": optname.OptionsName, "seed": optname.OptionsSeed, "compression": optname.OptionsCompression,
	"shards": optname.OptionsShards, "shard_size": optname.OptionsShardSize, "records_per_shard": optname.OptionsRecordsPerShard,
	"shuffle": optname.ReshardOptionsShuffle, "sort_by": optname.ReshardOptionsSortBy, "group_by": optname.ReshardOptionsGroupBy,
	"splits": optname.ResplitOptionsSplits, "by_hash": optname.ResplitOptionsByHash, "stratify": optname.ResplitOptionsStratify,
	"together": optname.ResplitOptionsTogether, "list": optname.ResplitOptionsList, "key": optname.ResplitOptionsKey,
	"where": optname.FilterOptionsWhere, "by": optname.DedupeOptionsBy,
	"count": optname.SampleOptionsCount, "share": optname.SampleOptionsShare, "skip": optname.TakeOptionsSkip,
	"select": optname.ReshapeSelectFeatures, "drop": optname.ReshapeDropFeatures, "rename": optname.ReshapeRenameFeatures,
}

// keyArguments are the arguments of the functions of these keys.
var keyArguments = map[string]optname.Name{
	"select": optname.SelectFeaturesKeys, "drop": optname.DropFeaturesKeys, "rename": optname.RenameFeaturesKeys,
}

// optionName returns the displayed name of an option of a verb.
func optionName(verb, key string) optname.Name {
	if verb == "take" && key == "count" {
		return optname.TakeOptionsCount
	}
	if name, ok := optionNames[key]; ok {
		return name
	}
	return optname.Name("option " + key) // written by another version
}

func (o *Options) check() error {
	if o.Name != "" {
		if err := shard.CheckDataset(o.Name); err != nil {
			return optionError(optname.OptionsName, "%v", err)
		}
	}
	if err := shares.CheckShards(o.Shards, o.SplitShards); err != nil {
		return optionError(optname.OptionsShards, "%v", err)
	}
	var given *optname.Name
	for _, way := range []struct {
		field optname.Name
		value int64
		most  int64
	}{
		{optname.OptionsShards, int64(max(o.Shards, len(o.SplitShards))), shares.MaxShards},
		{optname.OptionsShardSize, o.ShardSize, 1 << 62},
		{optname.OptionsRecordsPerShard, o.RecordsPerShard, 1 << 62},
	} {
		switch {
		case way.value == 0:
		case way.value < 0 || way.value > way.most:
			return optionError(way.field, "%d is not between 1 and %d", way.value, way.most)
		case given != nil:
			return optionError(way.field, "it excludes %s", given)
		default:
			given = &way.field
		}
	}
	if o.Memory != 0 && o.Memory < leastMemory {
		return optionError(optname.OptionsMemory, "%d bytes are too few: want 1MB or more", o.Memory)
	}
	if o.Workers < 0 {
		return optionError(optname.OptionsWorkers, "%d is negative", o.Workers)
	}
	if o.MaxRecord < 0 {
		return optionError(optname.OptionsMaxRecord, "%d is negative", o.MaxRecord)
	}
	return nil
}

// expand returns the options for expanding the inputs.
func (o *Options) expand() shard.ExpandOptions {
	warn := o.Warn
	if warn == nil {
		warn = o.Note
	}
	return shard.ExpandOptions{Partial: o.Partial, Note: warn}
}

func (o *Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return defaultMemory
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) compression() tfrecord.Compression {
	if o.Compression == tfrecord.CompressionAuto {
		return tfrecord.CompressionNone
	}
	return o.Compression
}

// datasetName returns the name of the new set.
func (o *Options) datasetName(in *inputs, out string) (string, error) {
	if o.Name != "" {
		return o.Name, nil
	}
	shared := ""
	for i, f := range in.files {
		name := ""
		if f.Set != nil {
			name = f.Set.Name
		} else if parsed, ok := shard.ParseName(filepath.Base(f.Path)); ok {
			name = parsed.Dataset
		}
		if i == 0 {
			shared = name
		}
		if name != shared {
			shared = ""
		}
	}
	if shared != "" {
		return shared, nil
	}
	if storage.Remote(out) {
		return naming.SnakeCase(storage.Base(out)), nil
	}
	abs, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	return naming.SnakeCase(filepath.Base(abs)), nil
}

// cut returns the layout of a split with the given number of records and approximate size in bytes.
func (o *Options) cut(split string, records, bytes int64) (layout, error) {
	l := layout{records: records, shards: int64(max(o.Shards, o.SplitShards[split]))}
	switch {
	case o.RecordsPerShard > 0:
		l.each = o.RecordsPerShard
		l.shards = (records + l.each - 1) / l.each
	case o.ShardSize > 0:
		l.shards = min((bytes+o.ShardSize-1)/o.ShardSize, records)
	case l.shards == 0:
		l.shards = min(int64(shares.AutoShards(records, bytes)), records)
	}
	l.shards = max(l.shards, 1)
	if l.shards > shares.MaxShards {
		return l, fmt.Errorf("%d shards in a split are more than the %d that shard names can number: make them larger", l.shards, shares.MaxShards)
	}
	return l, nil
}

// layout is the distribution of a split's records over its shards.
type layout struct {
	records, shards int64
	each            int64 // records in each shard but the last; 0 distributes them evenly
}

// start returns the number of the first record of a shard; start(l.shards) is l.records.
func (l layout) start(shard int64) int64 {
	if l.shards == 0 {
		return 0
	}
	if l.each > 0 {
		return min(shard*l.each, l.records)
	}
	q, r := l.records/l.shards, l.records%l.shards
	return shard*q + shard*r/l.shards
}

// after returns the first shard that begins after a record.
func (l layout) after(record int64) int64 {
	return int64(sort.Search(int(l.shards), func(i int) bool { return l.start(int64(i)) > record }))
}
