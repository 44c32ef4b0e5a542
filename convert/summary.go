package convert

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// Summary is the result of a run: its Status, the counts of samples, records, errors, files left out
// and bytes, the shards written and kept, the splits, and the Fingerprint of the set. Its JSON is what
// the command prints with --json.
type Summary = plan.Summary

// SplitSummary has the Records and Shards of one split.
type SplitSummary = plan.SplitSummary

// AnnotationCounts count the objects of a set whose images are annotated: the Annotations in records,
// and those Dropped.
type AnnotationCounts = plan.AnnotationCounts

// LeftOut is what a source has and a set does not, for one reason: a Reason of a closed list of words,
// a Count, and the first five Names. Its String is a sentence for people.
type LeftOut = plan.LeftOut

// Status is the outcome of a run.
type Status = plan.Status

// Outcomes of a run.
const (
	Written  = plan.Written  // "written": a new set
	UpToDate = plan.UpToDate // "up_to_date": nothing to do: the set is up to date
	Resumed  = plan.Resumed  // "resumed": finished what an earlier run began
	Updated  = plan.Updated  // "updated": redid what changed in the input
	Failed   = plan.Failed   // "failed": more unusable samples than allowed
	Planned  = plan.Planned  // "planned": nothing: Options.DryRun
)

// Progress counts what a run has done so far: samples, bytes and shards. Its fields are atomic, and
// may be read during the run.
type Progress = plan.Progress

// Plan is what a run would do, as determined with Options.DryRun: the shards, the files it would write
// and those that it would remove, and with Options.Estimate how much of both.
type Plan = plan.Plan

// PlanShard is one shard of a Plan.
type PlanShard = plan.PlanShard

// Estimate is what a run would take, estimated from some of its samples.
type Estimate = plan.Estimate

// BadSamplesError means that more samples were unusable than Options.MaxErrors allows, or that none is
// left: Samples names them, and Causes says what many of them have in common. Finished shards are kept,
// so that after the input is corrected a run only remakes the shards of these samples.
type BadSamplesError = plan.BadSamplesError

// MissingShardsError means that an array job is not complete: Missing names the shards.
type MissingShardsError = plan.MissingShardsError

// FinalizeOptions are the options of Finalize: MaxErrors, by default that of the tasks, and Note.
type FinalizeOptions = plan.FinalizeOptions

// Finalize makes a set of the shards that the tasks of an array job have made in the directory out:
// it checks that they are complete and belong to one plan, and writes the ledger, TFDS's files and
// the manifest, the same bytes as a run without tasks. It returns a *MissingShardsError if shards
// are missing, a *BadSamplesError if too many samples were unusable, and an error that unwraps to
// shard.ErrBusy while tasks are running. A set that was finalized before is up to date.
func Finalize(ctx context.Context, out string, o FinalizeOptions) (*Summary, error) {
	return plan.Finalize(ctx, out, o)
}
