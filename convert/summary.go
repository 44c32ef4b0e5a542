package convert

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/plan"
)

// Summary is the result of a run. The command prints its JSON with --json.
//
//   - Status is the outcome; Seconds is the duration.
//   - Samples is the number planned: Records, Errors and Filtered (dropped by options) together,
//     less the Errors that are annotations of images with a record, or of none. With Options.DryRun,
//     Errors are those that listing the source shows, and there are no Records.
//   - SkippedFiles are files of the source that are not images; LeftOut counts the parts of the
//     source that the set does not have, by reason.
//   - AnnotationCounts are nil for a set without objects.
//   - Narrowed is the number of records whose image has 8 bits a sample, and whose source has more
//     bits or floats.
//   - AlphaDropped is the number of records whose image lost an alpha channel or transparent
//     colour.
//   - Bytes of all shards, ShardsWritten and ShardsKept by this run, and Splits by name.
//   - Decoder that the bytes depend on, and Decoded, the records by decoder if a backend decodes.
//   - Fingerprint of the set.
//   - Ledger is the path of the list of unusable samples, if the run failed because of them.
//   - Task is set for a task of an array job: all counts then cover only its share.
//   - Plan is set only with Options.DryRun.
type Summary = plan.Summary

// SplitSummary has the Records and Shards of one split.
type SplitSummary = plan.SplitSummary

// AnnotationCounts count the objects of a set whose images are annotated: the Annotations in records,
// and those Dropped.
type AnnotationCounts = plan.AnnotationCounts

// LeftOut counts the parts of a source that a set does not have, for one reason: a Reason of a
// closed list of words, a Count, and the first five Names. Its String is a sentence for people.
type LeftOut = plan.LeftOut

// Status is the outcome of a run.
type Status = plan.Status

// Outcomes of a run.
const (
	Written  = plan.Written  // "written": a new set
	UpToDate = plan.UpToDate // "up_to_date": nothing to do: the set is up to date
	Resumed  = plan.Resumed  // "resumed": completed an interrupted run
	Updated  = plan.Updated  // "updated": redid what changed in the input
	Failed   = plan.Failed   // "failed": more unusable samples than allowed
	Planned  = plan.Planned  // "planned": nothing: Options.DryRun
)

// Progress has the counters of a run. Its fields are atomic, and may be read during the run: the
// samples Planned, those Done of them, and the Errors among these; BytesIn read from the input and
// BytesOut framed, before compression; the Shards in all, those Kept from earlier runs and those
// Finished by this one. With CSVOptions.Shuffle, ToScan is the number of samples to read before the
// first is done, and Scanned the number of these that were read.
type Progress = plan.Progress

// Plan describes the work of a run, as determined with Options.DryRun: the Name and Seed of the
// set, its Shards, the Labels by id, the Features of its records, the Outputs that the run would write,
// relative to the output directory, the files of the existing set that would be Removed, and with
// Options.Estimate an Estimate.
type Plan = plan.Plan

// PlanShard is one shard of a Plan: its File and Split, the number of Samples, whether it is Kept as
// up to date, the Task that makes it (0 without tasks), and the Keys of its samples, in order; none for
// tables, which have too many rows.
type PlanShard = plan.PlanShard

// Estimate has the expected size and duration of a run, from some of its samples: the number Tried,
// and Errors among them; the Bytes of all shards before compression, and the Seconds with Workers
// goroutines.
type Estimate = plan.Estimate

// BadSamplesError means that more samples were unusable than Options.MaxErrors allows, or that none
// is left. Samples are the unusable ones, sorted by key, Causes explain errors that many of them
// share, Ledger is the path of the file that lists them, and Summary describes the run. Finished
// shards are kept, so that after the input is corrected a run only remakes the shards of these
// samples.
type BadSamplesError = plan.BadSamplesError

// MissingShardsError means that an array job is not complete: of the shards Planned for Dir those in
// Missing are not there.
type MissingShardsError = plan.MissingShardsError

// FinalizeOptions are the options of Finalize: MaxErrors, by default the limit of the tasks, and
// Note.
type FinalizeOptions = plan.FinalizeOptions

// Finalize makes a set of the shards that the tasks of an array job have made in the directory out:
// it checks that they are complete and belong to one plan, and writes the ledger, TFDS's files and
// the manifest, the same bytes as a run without tasks. It returns a *MissingShardsError if shards
// are missing, a *BadSamplesError if too many samples were unusable, and an error that unwraps to
// shard.ErrBusy while tasks are running. A set that was finalized before is up to date.
func Finalize(ctx context.Context, out string, o FinalizeOptions) (*Summary, error) {
	return plan.Finalize(ctx, out, o)
}
