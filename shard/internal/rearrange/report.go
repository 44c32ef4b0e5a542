package rearrange

import (
	"github.com/tfrec/tfrec/shard"
)

// Report is the result of a run.
type Report struct {
	// Status is "written", or "up_to_date" if an earlier run made the set from the same inputs with
	// the same options; all other fields are then from that run.
	Status string `json:"status"`
	// RecordsIn is the number of records in the inputs, Records the number in the new set.
	RecordsIn int64 `json:"records_in"`
	Records   int64 `json:"records"`
	// Bytes is the total size of all shards.
	Bytes   int64                         `json:"bytes"`
	Seconds float64                       `json:"seconds"`
	Shards  int                           `json:"shards"`
	Splits  map[string]shard.SplitSummary `json:"splits"`
	// Groups is the number of records in each of the sets made by ReshardOptions.GroupBy, by
	// directory.
	Groups map[string]int64 `json:"groups,omitempty"`
	// LabelsRemapped is set if the inputs' lists of label names differed, so that the ids in the
	// records were changed to match the new list.
	LabelsRemapped bool `json:"labels_remapped,omitempty"`
	// Notes are the sentences passed to Options.Note.
	Notes []string `json:"notes,omitempty"`
}

// Common returns r. On a report that embeds a Report it returns the part that all reports
// have in common.
func (r *Report) Common() *Report { return r }
