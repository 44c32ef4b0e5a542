package plan

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/set/shares"
)

// Rows are the options of all kinds of input. Splits is the recorded division into splits: shares, or
// one of SplitsByDirectories and so on.
func (o *Options) Rows(splits string) []option.Option {
	return slices.Concat(
		option.In(option.Splits, o.setRows(splits)), option.In(option.Run, o.runRows()), option.In(option.Machine, o.machineRows()))
}

// setRows are the options about the set. The number of shards is recorded by RecordShards.
func (o *Options) setRows(splits string) []option.Option {
	return []option.Option{
		{Flag: "name", Group: option.Storage, To: &o.Name, Help: "`NAME` of the dataset: the first part of every shard's name (default: the source's base name in snake case)"},
		{Flag: "seed", To: &o.Seed, Value: "N", Default: "0", Help: "seed of every random choice: limit, split, shard, order", Recorded: true},
		{
			Flag: "splits", Common: true, To: &o.Splits, Value: "NAME=SHARE,...", Default: "train=1", Many: option.Joined,
			Help: "splits by share, such as train=0.9,val=0.1; a sample's split never changes when others are added or removed",
			Set:  option.Parse(&o.Splits, ParseSplits), Recorded: true, As: func() any { return splits }, Restore: restoreSplits,
		},
		{
			Flag: "shards", Common: true, To: &o.Shards, Value: "N|auto|SPLIT=N,...", Default: "auto", Words: []string{"auto"}, Help: shares.ShardsHelp,
			Set: func(s string) (err error) {
				o.Shards, o.SplitShards, err = shares.ParseShards(s)
				return err
			},
			Restore: restoreShards,
		},
		{Flag: "even", To: &o.Even, Help: "make shards of even lengths; an added sample then changes several of them", Recorded: true},
		{
			Flag: "compression", Group: option.Storage, Common: true, To: &o.Compression, Value: "KIND", Default: "none", Words: shares.Compressions,
			Help: "none, gzip, zlib or zstd (TensorFlow reads all but zstd; TFDS and DALI only none)", Set: option.Parse(&o.Compression, shares.ParseCompression),
			Recorded: true, As: func() any { return CompressionName(o.Compression) },
		},
		{Flag: "limit", Group: option.Source, Common: true, To: &o.Limit, Help: "convert only `N` samples: a random choice that is the same everywhere (0: all)", Recorded: true},
	}
}

// runRows are the options for the checks of a run: unusable samples, the number of samples, and
// replacing a set.
func (o *Options) runRows() []option.Option {
	return []option.Option{
		{
			Flag: "max-errors", Common: true, To: &o.MaxErrors, Value: "N|P%", Default: "0", Help: "how many samples may be unusable, as a number or a percentage",
			Set: option.Parse(&o.MaxErrors, ParseTolerance),
		},
		{
			Flag: "expect", To: &o.Expect, Value: "N|MIN-MAX",
			Help: "how many samples the input has, unusable ones included; others are an error, before anything is replaced",
			Set:  option.Parse(&o.Expect, ParseExpected),
		},
		{Flag: "overwrite", Common: true, To: &o.Overwrite, Help: "replace a set that was made with other options", Once: true},
		{Flag: "allow-shrink", To: &o.AllowShrink, Help: "let an update remove more than half of the set's samples; without it, that is refused", Once: true},
		{Flag: "dry-run", Short: "n", Common: true, To: &o.DryRun, Help: "print which shards would be written, kept and removed, and write nothing", Once: true},
		{Flag: "estimate", To: &o.Estimate, Needs: []string{"plan-only"}, Help: "with --plan-only: convert a few samples, and estimate bytes and time from them", Once: true},
		{Flag: "replan", To: &o.Replan, Help: "with --task: discard an array job with another plan that was not finalized", Once: true},
		{Flag: "depfile", To: &o.Depfile, Help: "write to `FILE` the set's inputs, as a rule for make and ninja"},
	}
}

// machineRows are the options about how a machine does the work.
func (o *Options) machineRows() []option.Option {
	return []option.Option{
		{Flag: "workers", Short: "j", To: &o.Workers, Check: option.AtLeast(&o.Workers, 1, "1 or more"), Default: strconv.Itoa(runtime.GOMAXPROCS(0)), Help: "make `N` samples at a time"},
		{Flag: "retries", To: &o.Retries, Help: "retry failed shards `N` times (default 2 with --task)"},
		{Flag: "trust-times", To: &o.TrustTimes, Help: "take inputs of the same size and modification time for unchanged, also if inode or change time differ"},
		{Flag: "hash-inputs", To: &o.HashInputs, Help: "compare the contents of inputs instead of their sizes and times"},
	}
}

// restoreSplits returns the shares, unless the source states the splits.
func restoreSplits(recorded map[string]json.RawMessage) ([]string, error) {
	var splits string
	if err := json.Unmarshal(recorded[OptionSplits], &splits); err != nil {
		return nil, err
	}
	if !strings.Contains(splits, "=") {
		return nil, nil
	}
	return []string{splits}, nil
}

// restoreShards returns the requested numbers of shards. Numbers that were chosen depend on the input:
// see Options.ShardsLike.
func restoreShards(recorded map[string]json.RawMessage) ([]string, error) {
	if string(recorded[OptionAuto]) == "true" {
		return nil, nil
	}
	if given := recorded[OptionGiven]; given != nil { // a number, or text
		return []string{strings.Trim(string(given), `"`)}, nil
	}
	var counts map[string]int
	if err := json.Unmarshal(recorded[optionShards], &counts); err != nil {
		return nil, errors.New("want a count for each split")
	}
	most := 0 // a split of few samples has fewer
	for _, n := range counts {
		most = max(most, n)
	}
	return []string{strconv.Itoa(most)}, nil
}
