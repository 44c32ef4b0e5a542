package convert

import (
	"fmt"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
)

// Status says what a run did.
type Status string

// What a run did.
const (
	Written  Status = "written"    // a new set
	UpToDate Status = "up_to_date" // nothing: the set is what it would be
	Resumed  Status = "resumed"    // finished what an earlier run began
	Updated  Status = "updated"    // redid what changed in the input
	Failed   Status = "failed"     // more unusable samples than are bearable
	Planned  Status = "planned"    // nothing: Options.DryRun
)

// Summary is the result of a run.
type Summary struct {
	Status Status `json:"status"`
	// Samples planned: Records, Errors and Filtered add up to it.
	Samples int64 `json:"samples"`
	Records int64 `json:"records"`
	Errors  int64 `json:"errors"`
	// Filtered samples were left out because an option asked for it.
	Filtered int64 `json:"filtered"`
	// SkippedFiles lie in the source and are no images.
	SkippedFiles int64 `json:"skipped_files"`
	// Bytes of all shards.
	Bytes         int64                   `json:"bytes"`
	Seconds       float64                 `json:"seconds"`
	ShardsWritten int                     `json:"shards_written"`
	ShardsKept    int                     `json:"shards_kept"`
	Splits        map[string]SplitSummary `json:"splits"`
	Decoder       string                  `json:"decoder"`
	Fingerprint   string                  `json:"fingerprint"`
	// Decoded are the records that this run made, by who decoded their image; only
	// where a backend decodes.
	Decoded map[string]int64 `json:"decoded,omitempty"`
	// Ledger is the path of the list of unusable samples, of a run that failed for them.
	Ledger string `json:"ledger,omitempty"`
	// Task is set for a task of an array job: all counts are then of its share.
	Task *Task `json:"task,omitempty"`
	// Plan is what would be done; only with Options.DryRun.
	Plan *Plan `json:"-"`
}

// SplitSummary is a split's part of a Summary.
type SplitSummary struct {
	Records int64 `json:"records"`
	Shards  int   `json:"shards"`
}

// Progress counts what a run has done so far. Its fields may be read while
// the run goes on.
type Progress struct {
	Planned  atomic.Int64 // samples that this run has to make; 0 until planned
	Done     atomic.Int64 // of them, made, unusable or filtered; less again when a shard fails
	Errors   atomic.Int64 // of those done, unusable
	BytesIn  atomic.Int64 // read from the input
	BytesOut atomic.Int64 // framed, before compression
	Kept     atomic.Int64 // shards kept from earlier runs
	Finished atomic.Int64 // shards put in place by this run
	Shards   atomic.Int64 // shards in all
	// ToScan samples are read and encoded before the first is done: all of them with
	// CSVOptions.Shuffle, otherwise 0. Scanned of them are.
	ToScan, Scanned atomic.Int64
}

// BadSamplesError says that more samples could not be used than
// Options.MaxErrors bears, or that none is left. Finished shards are kept, so that a run after the
// input is mended costs only the shards of these samples.
type BadSamplesError struct {
	// Summary of the run, with status Failed.
	Summary *Summary
	// Samples that could not be used, sorted by key.
	Samples []setdir.BadSample
	// Ledger is the path of the file that lists them.
	Ledger string
}

func (e *BadSamplesError) Error() string {
	first := e.Samples[0]
	where := first.Key
	if first.Line > 0 {
		where = fmt.Sprintf("%s, line %d", first.Source, first.Line)
	}
	verdict := "more than Options.MaxErrors allows"
	if e.Summary.Records == 0 {
		verdict = "and no record is left"
	}
	return fmt.Sprintf("%d of %s could not be used, %s; the first: %s: %s: %s (all of them: %s)",
		e.Summary.Errors, plural.Of(e.Summary.Samples, "sample"), verdict, where, first.Stage, first.Reason, e.Ledger)
}
