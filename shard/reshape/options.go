package reshape

import (
	"fmt"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// optionNames are the names of the options that all verbs have, by the keys under which manifests and
// run states record them.
var optionNames = map[string]optname.Name{
	"name": optname.OptionsName, "seed": optname.OptionsSeed, "compression": optname.OptionsCompression,
	"shards": optname.OptionsShards, "shard_size": optname.OptionsShardSize, "records_per_shard": optname.OptionsRecordsPerShard,
}

// optionName returns the displayed name of an option.
func (v *verb) optionName(key string) optname.Name {
	if name, ok := v.names[key]; ok {
		return name
	}
	if name, ok := optionNames[key]; ok {
		return name
	}
	return optname.Name("option " + key) // written by another version
}

// setLimits sets limits that have no option, for tests: the number of open shards and the approximate
// size of a part of a plan. Zero is the default.
func setLimits(o *Options, open int, part int64) { o.maxOpen, o.partSize = open, part }

func (o *Options) check() error {
	if o.Name != "" {
		if err := shard.CheckDataset(o.Name); err != nil {
			return source.OptionError(optname.OptionsName, "%v", err)
		}
	}
	if err := shares.CheckShards(o.Shards, o.SplitShards); err != nil {
		return source.OptionError(optname.OptionsShards, "%v", err)
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
			return source.OptionError(way.field, "%d is not between 1 and %d", way.value, way.most)
		case given != nil:
			return source.OptionError(way.field, "it excludes %s", given)
		default:
			given = &way.field
		}
	}
	return reading(o).Check()
}

// reading returns how the inputs are read. It is a function because programs see the methods of
// Options.
func reading(o *Options) source.Options {
	warn := o.Warn
	if warn == nil {
		warn = o.Note
	}
	return source.Options{
		Expand:  shard.ExpandOptions{Partial: o.Partial, Note: warn},
		Workers: o.Workers, Memory: o.Memory, MaxRecord: o.MaxRecord, Progress: o.Progress,
	}
}

func (o *Options) compression() tfrecord.Compression {
	if o.Compression == tfrecord.CompressionAuto {
		return tfrecord.CompressionNone
	}
	return o.Compression
}

// datasetName returns the name of the new set.
func (o *Options) datasetName(in *source.Inputs, out string) (string, error) {
	if o.Name != "" {
		return o.Name, nil
	}
	shared := ""
	for i, f := range in.Files {
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
func (o *Options) cut(split string, records, bytes int64) (assign.Layout, error) {
	l := assign.Layout{Records: records, Shards: int64(max(o.Shards, o.SplitShards[split]))}
	switch {
	case o.RecordsPerShard > 0:
		l.Each = o.RecordsPerShard
		l.Shards = (records + l.Each - 1) / l.Each
	case o.ShardSize > 0:
		l.Shards = min((bytes+o.ShardSize-1)/o.ShardSize, records)
	case l.Shards == 0:
		l.Shards = min(int64(shares.AutoShards(records, bytes)), records)
	}
	l.Shards = max(l.Shards, 1)
	if l.Shards > shares.MaxShards {
		return l, fmt.Errorf("%d shards in a split are more than the %d that shard names can number: make them larger", l.Shards, shares.MaxShards)
	}
	return l, nil
}
