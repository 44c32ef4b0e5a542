package plan

import (
	"fmt"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// Status is the outcome of a run.
type Status string

// Outcomes of a run.
const (
	Written  Status = "written"    // a new set
	UpToDate Status = "up_to_date" // nothing to do: the set is up to date
	Resumed  Status = "resumed"    // completed an interrupted run
	Updated  Status = "updated"    // redid what changed in the input
	Failed   Status = "failed"     // more unusable samples than allowed
	Planned  Status = "planned"    // nothing: Options.DryRun
)

// Summary is the result of a run.
type Summary struct {
	Status Status `json:"status"`
	// Samples is the number planned: the sum of Records, Errors and Filtered, less the Errors that are
	// annotations of images with a record, or of none. With Options.DryRun, Errors are those that listing
	// the input shows, and there are no Records.
	Samples int64 `json:"samples"`
	Records int64 `json:"records"`
	Errors  int64 `json:"errors"`
	// Filtered is the number of samples dropped by options.
	Filtered int64 `json:"filtered"`
	// SkippedFiles is the number of files in the source that are not images, and of images without
	// annotations that are left out (AnnotationSpec.KeepUnannotated).
	SkippedFiles int64 `json:"skipped_files"`
	// LeftOut counts the parts of the source that the set does not have, by reason: files, images,
	// columns.
	LeftOut []LeftOut `json:"left_out"`
	// AnnotationCounts are nil for a set without objects.
	*AnnotationCounts
	// Narrowed is the number of records whose image has 8 bits a sample, and had more, or floats, in the
	// source. LeftOut has it, too.
	Narrowed int64 `json:"narrowed,omitempty"`
	// AlphaDropped is the number of records whose image had an alpha channel, or a transparent colour,
	// that was not composited on a background.
	AlphaDropped int64 `json:"alpha_dropped,omitempty"`
	// Bytes of all shards.
	Bytes         int64                   `json:"bytes"`
	Seconds       float64                 `json:"seconds"`
	ShardsWritten int                     `json:"shards_written"`
	ShardsKept    int                     `json:"shards_kept"`
	Splits        map[string]SplitSummary `json:"splits"`
	Decoder       string                  `json:"decoder"`
	Fingerprint   string                  `json:"fingerprint"`
	// Decoded is the number of records made by this run, by the decoder of their image; only if a
	// backend decodes.
	Decoded map[string]int64 `json:"decoded,omitempty"`
	// Ledger is the path of the list of unusable samples, if the run failed because of them.
	Ledger string `json:"ledger,omitempty"`
	// Task is set for a task of an array job: all counts then cover its share alone.
	Task *Task `json:"task,omitempty"`
	// Plan is set with Options.DryRun alone.
	Plan *Plan `json:"-"`
}

// LeftOut counts the parts of a source that a set does not have, for one reason.
type LeftOut struct {
	// Reason is one of a closed list of words, such as heic or unannotated.
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
	// Names are the first ones, at most five.
	Names []string `json:"names"`
}

func (l LeftOut) entry() account.Entry {
	return account.Entry{Reason: account.Reason(l.Reason), Count: l.Count, Names: l.Names}
}

// String describes the entry: "3 HEIC images not read: a.heic, b.heic and 1 more".
func (l LeftOut) String() string { return l.entry().String() }

// Noted reports whether a note of the run has already mentioned it.
func (l LeftOut) Noted() bool { return l.entry().Reason.Noted() }

// Loses reports whether it is an error with LabelSpec.Strict.
func (l LeftOut) Loses() bool { return l.entry().Reason.Loses() }

// LeftOutOf returns the entries of an account.
func LeftOutOf(a *account.Account) []LeftOut {
	list := []LeftOut{}
	for _, e := range a.Entries() {
		list = append(list, LeftOut{string(e.Reason), e.Count, e.Names})
	}
	return list
}

// AnnotationCounts count the objects of a set whose images are annotated.
type AnnotationCounts struct {
	// Annotations is the number of objects in the records.
	Annotations int64 `json:"annotations"`
	// Dropped is the number of annotations that could not be used, which are among the Errors, and of
	// objects that crops and the like left out of a record.
	Dropped int64 `json:"annotations_dropped"`
}

// SplitSummary is the part of a Summary about one split.
type SplitSummary struct {
	Records int64 `json:"records"`
	Shards  int   `json:"shards"`
}

// Progress has the counters of a run. Its fields may be read during the run.
type Progress struct {
	Planned  atomic.Int64 // samples that this run has to make; 0 until planned
	Done     atomic.Int64 // of these, made, unusable or filtered; decreases when a shard fails
	Errors   atomic.Int64 // of those done, unusable; and annotations that are
	BytesIn  atomic.Int64 // read from the input
	BytesOut atomic.Int64 // framed, before compression
	Kept     atomic.Int64 // shards kept from earlier runs
	Finished atomic.Int64 // shards put in place by this run
	Shards   atomic.Int64 // shards in all
	// ToScan is the number of samples to read and encode before the first is done: all of them with
	// CSVOptions.Shuffle, otherwise 0. Scanned is the number of these that were read.
	ToScan, Scanned atomic.Int64
}

// BadSamplesError means that more samples were unusable than Options.MaxErrors allows, or that none
// is left. Finished shards are kept, so that after the input is corrected a run only remakes the
// shards of these samples.
type BadSamplesError struct {
	// Summary of the run, with status Failed.
	Summary *Summary
	// Samples are the unusable ones, sorted by key.
	Samples []setdir.BadSample
	// Causes explain why many of them cannot be used, with the remedy, where this is known. They
	// are among the notes, too.
	Causes []string
	// Ledger is the path of the file that lists them.
	Ledger string

	allowed Tolerance
}

func (e *BadSamplesError) Error() string {
	first := e.Samples[0]
	where := first.Key
	if first.Line > 0 {
		where = fmt.Sprintf("%s, line %d", first.Source, first.Line)
	}
	verdict := fmt.Sprintf("more than %s allows (%s)", optname.OptionsMaxErrors, e.allowed)
	if e.allowed == (Tolerance{}) {
		verdict = fmt.Sprintf("more than %s allows (0, the default)", optname.OptionsMaxErrors)
	}
	if e.Summary.Records == 0 {
		verdict = "and no record is left"
	}
	what := fmt.Sprintf("%d of %s could not be used", e.Summary.Errors, plural.Of(e.Summary.Samples, "sample"))
	if e.Summary.AnnotationCounts != nil {
		what = plural.Of(e.Summary.Errors, "fault") + " in samples and annotations"
	}
	return fmt.Sprintf("%s, %s; the first: %s: %s: %s (all of them: %s)",
		what, verdict, where, first.Stage, first.Reason, e.Ledger)
}

// Plan describes the work of a run, as determined with Options.DryRun.
type Plan struct {
	Name   string      `json:"name"`
	Seed   uint64      `json:"seed"`
	Shards []PlanShard `json:"shards"`
	// Labels are the names of the labels by id; empty if there are none, or they have no names.
	Labels []string `json:"labels"`
	// Features are what records have, as in the manifest.
	Features []manifest.Feature `json:"features"`
	// Outputs are all files that the run would write, relative to the output directory.
	Outputs []string `json:"outputs"`
	// Removed are the files of the existing set that the run would remove and not write again,
	// relative to the directory and sorted. A ledger is not among them: only a run determines
	// whether there is one.
	Removed []string `json:"removed"`
	// Estimate is based on some samples; only with Options.Estimate.
	Estimate *Estimate `json:"estimate,omitempty"`
}

// PlanShard is one shard of a Plan.
type PlanShard struct {
	File    string `json:"file"`
	Split   string `json:"split"`
	Samples int64  `json:"samples"`
	// Kept is set for shards that are finished and up to date.
	Kept bool `json:"kept"`
	// Task is the index, out of Options.Task.Count, of the task that makes it; 0 without tasks.
	Task int `json:"task"`
	// Keys of the samples, in order; none for tables, which have too many rows.
	Keys []string `json:"keys,omitempty"`
}

// Estimate has the expected size and duration of a run, from some of its samples.
type Estimate struct {
	// Tried is the number of samples made for it, and discarded.
	Tried int64 `json:"tried"`
	// Errors is the number of unusable ones among them.
	Errors int64 `json:"errors"`
	// Bytes of all shards before compression.
	Bytes int64 `json:"bytes"`
	// Seconds with Workers goroutines.
	Seconds float64 `json:"seconds"`
	Workers int     `json:"workers"`
}
