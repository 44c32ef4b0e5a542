package convert

import (
	"github.com/tfrec/tfrec/convert/internal/plan"
)

// Options are common to conversions of all kinds of input. The zero value is a sensible default.
//
// The set:
//   - Name of the dataset. Default: the source's base name in snake case.
//   - Seed of all randomness: limit, split, shard and order. Default: 0.
//   - Limit keeps the N samples with the smallest seeded hashes; 0 keeps all.
//   - Splits by ratio. Default: the splits of the source, or all samples in "train".
//   - Shards per split, SplitShards by the name of a split, ShardsLike the numbers of shards of
//     another set, which are kept within a factor of two. Default: about 128 MiB a shard, at least
//     min(16, samples/64) and one.
//   - Even cuts shards to equal lengths; adding a sample then moves others.
//   - Compression of the shards. Default: none.
//
// Checks:
//   - MaxErrors is the number of unusable samples allowed. Default: none.
//   - Overwrite replaces a set made with other options.
//   - AllowShrink lets an update remove more than half of a set's samples.
//   - Expect is the number of samples of the input; any other number is an error before anything is
//     replaced.
//
// The work:
//   - TrustTimes takes inputs of the same size and modification time for unchanged, HashInputs
//     reads all.
//   - Workers is the number of goroutines that make records. Default: one per core.
//   - Retries is the number of times that a failed shard is retried. Default: 0.
//   - Task makes the run one of an array job, and Replan lets it abandon another plan.
//   - DryRun plans and compares, and writes nothing; with Estimate it estimates bytes and time.
//
// Reports:
//   - Progress, if not nil, is updated during the run.
//   - Note, if not nil, is called with sentences about automatic choices, one call at a time.
//   - Depfile is the path of a file that names the inputs of the set, for make and ninja; AlsoReads
//     are further inputs.
//   - Args are the arguments of the command, which are recorded.
type Options = plan.Options

// SplitShare is a split's Name and its Share of the samples.
type SplitShare = plan.SplitShare

// ParseSplits parses "train=0.9,val=0.1" or "train=90%,val=10%". Shares that do not add up to 1 are an
// error.
func ParseSplits(s string) ([]SplitShare, error) { return plan.ParseSplits(s) }

// Tolerance is the number of unusable samples that a run allows: Count of them or, above 0, a Share of
// the planned samples. A sample counts once in a share whatever the number of its annotations that
// cannot be used, and an annotation of no image counts like one. The zero value allows none.
type Tolerance = plan.Tolerance

// ParseTolerance parses "5" or "2%".
func ParseTolerance(s string) (Tolerance, error) { return plan.ParseTolerance(s) }

// Expected is a number of samples: Min to Max. The zero value expects nothing.
type Expected = plan.Expected

// ParseExpected parses "N" or "MIN-MAX".
func ParseExpected(s string) (Expected, error) { return plan.ParseExpected(s) }

// Task is one of Count tasks of an array job, with an Index from 0. It makes the shards whose number in
// the plan is Index modulo Count; Finalize makes a set of what all tasks made. Tasks need the same
// input, options and output directory, and are otherwise independent: they may run in any order,
// concurrently, repeatedly, on other machines, and with a different Count than before.
type Task = plan.Task

// TaskOf returns the index of this process among count tasks, from the variables that an array job
// scheduler sets, and the name of the variable: Slurm, Kubernetes, AWS Batch, Cloud Run, Google
// Batch, PBS, LSF and Grid Engine. The caller determines the number of tasks: a different number
// from the scheduler is an error, because a job that resubmits a few of its tasks has other counts,
// and would assign the shards differently. Finding no scheduler, or several that disagree, is an
// error.
func TaskOf(count int, lookup func(string) (string, bool)) (task Task, from string, err error) {
	return plan.TaskOf(count, lookup)
}
