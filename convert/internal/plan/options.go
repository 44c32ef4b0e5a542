package plan

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// OptionErrorf returns an error about an option, named by struct and field.
func OptionErrorf(option optname.Name, format string, args ...any) error {
	return &shard.OptionError{Field: option.String(), Err: fmt.Errorf(format, args...)}
}

// Options are common to conversions of all kinds of input. The zero value is a sensible default.
type Options struct {
	// Name of the dataset. Default: the source's base name in snake case.
	Name string
	// Seed of all randomness: limit, split, shard and order. Default: 0.
	Seed uint64
	// Limit keeps the N samples with the smallest seeded hashes. 0 keeps all.
	Limit int64
	// MaxErrors is the number of unusable samples allowed. Default: none.
	MaxErrors Tolerance

	// Splits by ratio. Default: all samples in "train". Not needed if directories name the splits.
	Splits []SplitShare
	// Shards per split. 0 chooses: about 128 MiB per shard, at least min(16, samples/64) and one.
	Shards int
	// SplitShards are the numbers of shards of splits, by name, if Shards is 0. For other splits
	// the number is chosen.
	SplitShards map[string]int
	// ShardsLike are the numbers of shards of another set, by split; they are kept if Shards is 0
	// and they are within a factor of two.
	ShardsLike map[string]int
	// Even cuts shards to equal lengths. Adding a sample then moves others, and more than one shard
	// is redone.
	Even bool
	// Compression of the shards. Default: none.
	Compression tfrecord.Compression

	// Overwrite replaces a set made with other options.
	Overwrite bool
	// AllowShrink lets an update remove more than half of a set's samples, which otherwise is an
	// error: more often than not, the listing of the input is incomplete.
	AllowShrink bool
	// Expect is the number of samples of the input, unusable ones included. Any other number is an
	// error, before anything is replaced. Default (zero): any number.
	Expect Expected
	// TrustTimes takes inputs of the same size and modification time for unchanged. Default: the
	// inode and the time of its last change count, too, where the file system has them; a file of
	// which only these differ is read again, and nothing is redone if its content is the same.
	TrustTimes bool
	// HashInputs also reads inputs whose size and time have not changed.
	HashInputs bool
	// Workers is the number of goroutines that make records. Default: one per core. For a backend
	// that works in batches, half as many plus one, which keep the cores busy while others wait for
	// it.
	Workers int
	// Retries is the number of times that a failed shard is retried. Default: 0.
	Retries int

	// Task makes this run one of an array job: it makes its share of the shards, and Finalize makes
	// a set of all shares.
	Task *Task
	// Replan lets a task abandon an array job's plan that was not finalized, and begin another: for
	// a corrected input or, unless there is a finished set, other options.
	Replan bool

	// DryRun plans and compares, and writes nothing.
	DryRun bool
	// Estimate makes a DryRun estimate bytes and time from some samples.
	Estimate bool

	// Depfile is the path of a file that names the inputs of the set, for make and ninja. It is written
	// after a successful run. Default: nowhere.
	Depfile string
	// AlsoReads are further files that the options were read from, for Depfile.
	AlsoReads []string
	// Args are the arguments of the current tfrec command, if any. They are recorded, and shown
	// when the set is found incomplete (see [shard.IncompleteError]).
	Args []string

	// Progress, if not nil, is updated during the run.
	Progress *Progress
	// Note, if not nil, is called with human-readable notes about automatic choices, one call at a
	// time.
	Note func(sentence string)
}

// Notef calls Note with a sentence.
func (o *Options) Notef(format string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, args...))
	}
}

// Goroutines is the number of goroutines that make records, unless they wait for a backend.
func (o *Options) Goroutines() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// ShardsOf returns the requested number of shards of a split, 0 to choose.
func (o *Options) ShardsOf(split string) int { return max(o.Shards, o.SplitShards[split]) }

// CheckShardsOf returns an error for shard numbers of unknown splits.
func (o *Options) CheckShardsOf(splits []string) error {
	if err := shares.CheckShardsOf(splits, o.SplitShards); err != nil {
		return OptionErrorf(optname.OptionsShards, "%v", err)
	}
	return nil
}

// Check returns an error for invalid shared options.
func (o *Options) Check() error {
	if err := shard.CheckDataset(o.Name); err != nil {
		return OptionErrorf(optname.OptionsName, "%v", err)
	}
	if err := shares.CheckShards(o.Shards, o.SplitShards); err != nil {
		return OptionErrorf(optname.OptionsShards, "%v", err)
	}
	if o.Workers < 0 {
		return OptionErrorf(optname.OptionsWorkers, "%d is negative", o.Workers)
	}
	if o.Limit < 0 {
		return OptionErrorf(optname.OptionsLimit, "%d is negative", o.Limit)
	}
	if o.Retries < 0 {
		return OptionErrorf(optname.OptionsRetries, "%d is negative", o.Retries)
	}
	if o.Task != nil {
		if err := o.Task.check(); err != nil {
			return err
		}
		if o.Depfile != "" {
			return OptionErrorf(optname.OptionsDepfile, "a task writes no manifest that a rule could name")
		}
		if o.Overwrite {
			return OptionErrorf(optname.OptionsOverwrite, "a task cannot replace a set that others may be working on: remove the set first")
		}
	} else if o.Replan {
		return OptionErrorf(optname.OptionsReplan, "is for the tasks of an array job (%s)", optname.OptionsTask)
	}
	if len(o.Splits) > 0 {
		if _, err := ParseSplits(shares.FormatSplits(o.Splits)); err != nil {
			return OptionErrorf(optname.OptionsSplits, "%v", err)
		}
	}
	return nil
}

// SplitShare is a split's name and its share of the samples.
type SplitShare = shard.SplitShare

// ParseSplits parses "train=0.9,val=0.1" or "train=90%,val=10%".
func ParseSplits(s string) ([]SplitShare, error) { return shares.ParseSplits(s) }

// Tolerance is the number of unusable samples that a run allows: absolute, or a share of the
// planned samples, in which a sample counts once whatever the number of its annotations that cannot
// be used, and an annotation of no image like one. The zero value allows none.
type Tolerance struct {
	Count int64
	Share float64 // used when above 0
}

// ParseTolerance parses "5" or "2%".
func ParseTolerance(s string) (Tolerance, error) {
	if strings.HasSuffix(strings.TrimSpace(s), "%") {
		v, err := shares.ParseShare(s)
		return Tolerance{Share: v}, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return Tolerance{}, fmt.Errorf("%q: want a number of samples such as 5, or a percentage such as 2%%", s)
	}
	return Tolerance{Count: n}, nil
}

// allows reports whether bad of planned samples are allowed.
func (t Tolerance) allows(bad, planned int64) bool {
	if t.Share > 0 {
		return float64(bad) <= t.Share*float64(planned)
	}
	return bad <= t.Count
}

// SplitShares returns the splits with their shares from the options.
func (o *Options) SplitShares() []SplitShare { return shares.OrTrain(o.Splits) }

// Given returns a list that an option gives; nil if it is empty, as if it was not given.
func Given[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Expected is a number of samples: Min to Max. The zero value expects nothing.
type Expected struct{ Min, Max int64 }

// ParseExpected parses "N" or "MIN-MAX".
func ParseExpected(s string) (Expected, error) {
	low, high, ranged := strings.Cut(s, "-")
	if !ranged {
		high = low
	}
	least, err1 := strconv.ParseInt(low, 10, 64)
	most, err2 := strconv.ParseInt(high, 10, 64)
	if err1 != nil || err2 != nil || least < 0 || most < max(least, 1) {
		return Expected{}, fmt.Errorf("%q: want a number of samples, or MIN-MAX", s)
	}
	return Expected{least, most}, nil
}

// String returns what ParseExpected parses.
func (e Expected) String() string {
	if e.Min == e.Max {
		return strconv.FormatInt(e.Min, 10)
	}
	return fmt.Sprintf("%d-%d", e.Min, e.Max)
}

// String formats the tolerance for ParseTolerance.
func (t Tolerance) String() string {
	if t.Share > 0 {
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", 100*t.Share), "0"), ".") + "%"
	}
	return fmt.Sprint(t.Count)
}
