package rearrange

import (
	"fmt"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options are the options common to all functions that make a new set from existing records:
// Reshard, Merge, Sample, Take and the others. The zero value has the defaults of the command.
type Options struct {
	// Name is the name of the dataset, the first part of every shard's name. Default: the name that
	// all inputs share, else the base name of OUT in snake case.
	Name string
	// Shards is the number of shards in each split. Default: derived from ShardSize or
	// RecordsPerShard, or else about 128 MiB per shard, but at least min(16, records/64) shards.
	Shards int
	// SplitShards is the number of shards by split, if Shards is 0. Splits that are not in it get
	// the default number.
	SplitShards map[string]int
	// ShardSize is the approximate size of a shard in bytes. Default: see Shards.
	ShardSize int64
	// RecordsPerShard is the number of records in each shard of a split but the last. Default: see
	// Shards.
	RecordsPerShard int64
	// Compression is the compression of the shards, independent of the inputs. Default: none.
	Compression tfrecord.Compression
	// Seed determines all random choices.
	Seed uint64
	// Memory bounds the memory of sorting and shuffling, in bytes; beyond it, disk space in OUT is
	// used, or in the system's temporary directory if OUT is in an object store. In that case each
	// open shard, of which there are up to 16 or Workers, takes another 8 MiB, and uploads in
	// progress up to 128 MiB. A record larger than Memory is held once in addition. Minimum: 1 MB.
	// Default: 256 MiB.
	Memory int64
	// Workers is the number of goroutines that check and scan records. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64

	// Overwrite makes the set again if the directory already holds one, whatever its inputs and
	// options, and removes the old set's files, as listed in its manifest, once the new set is
	// complete. Default: an identical set is up to date, and a different one is an error. Overwrite
	// is an error in an object store, where a set cannot be replaced atomically.
	Overwrite bool

	// Union allows inputs without a common schema: a feature that each record of one input has may be
	// missing in another. Default: an error.
	Union bool

	// Partial reads the existing shards of input sets that are incomplete (see
	// [shard.ExpandOptions]).
	Partial bool

	// Args are the arguments of the tfrec command, if this is one. They are recorded, and shown to
	// anyone who finds the set incomplete (see [shard.IncompleteError]).
	Args []string
	// Progress, if not nil, is updated during the run.
	Progress *source.Progress
	// Note, if not nil, is called with a human-readable sentence about each choice made
	// automatically, from one goroutine at a time.
	Note func(sentence string)
	// Warn is called with a sentence about each input that is incomplete and used because of
	// Partial. Default: Note.
	Warn func(sentence string)

	// See SetLimits.
	maxOpen  int
	partSize int64
}

// optionNames are the names of the options that all verbs have, by the keys under which manifests and
// run states record them.
var optionNames = map[string]optname.Name{
	"name": optname.OptionsName, "seed": optname.OptionsSeed, "compression": optname.OptionsCompression,
	"shards": optname.OptionsShards, "shard_size": optname.OptionsShardSize, "records_per_shard": optname.OptionsRecordsPerShard,
}

// optionName returns the displayed name of an option.
func (v *Verb) optionName(key string) optname.Name {
	if name, ok := v.Names[key]; ok {
		return name
	}
	if name, ok := optionNames[key]; ok {
		return name
	}
	return optname.Name("option " + key) // written by another version
}

// SetLimits sets limits that have no option, for tests: the number of open shards and the approximate
// size of a part of a plan. Zero is the default.
func SetLimits(o *Options, open int, part int64) { o.maxOpen, o.partSize = open, part }

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
	return Reading(o).Check()
}

// Reading returns how the inputs are read. It is a function because programs see the methods of
// Options.
func Reading(o *Options) source.Options {
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
	return setdir.DatasetName(out)
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
