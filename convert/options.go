package convert

import (
	"github.com/tfrec/tfrec/convert/internal/plan"
)

// Options are common to conversions of all kinds of input. The zero value is a sensible default.
//
// They say what the set is (Name, Seed, Limit, Splits, Shards, SplitShards, ShardsLike, Even,
// Compression), what a run may do to one that exists (Overwrite, AllowShrink, Expect, MaxErrors), how
// it finds out what has changed (TrustTimes, HashInputs), how it works (Workers, Retries, Task, Replan,
// DryRun, Estimate), and what it tells (Progress, Note, Depfile, AlsoReads, Args). Only the first group
// changes the bytes of records or their order.
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

// TaskOf returns which of count tasks this process is, from the variables that an array job scheduler
// sets, and says which it used: Slurm, Kubernetes, AWS Batch, Cloud Run, Google Batch, PBS, LSF and
// Grid Engine. The number of tasks is always the caller's: a different number from the scheduler is an
// error, because a job that resubmits a few of its tasks has other counts, and would assign the shards
// differently. Finding no scheduler, or several that disagree, is an error.
func TaskOf(count int, lookup func(string) (string, bool)) (task Task, from string, err error) {
	return plan.TaskOf(count, lookup)
}
