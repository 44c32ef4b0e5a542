package reshape

import (
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// Report is the result of a run.
//
//   - Status is "written", or "up_to_date" if an earlier run made the set from the same inputs with
//     the same options; all other fields are then from that run.
//   - RecordsIn is the number of records in the inputs, Records the number in the new set.
//   - Shards is the number of all shards, and Bytes their total size. Seconds is the time that the run
//     took.
//   - Splits are the numbers of records and shards of each split, and Groups the numbers of records
//     in each of the sets made by ReshardOptions.GroupBy, by directory.
//   - LabelsRemapped is set if the inputs' lists of label names differed, so that the ids in the
//     records were changed to match the new list.
//   - Notes are the sentences passed to Options.Note.
//
// Common returns the Report itself, also of a report that embeds one.
type Report = rearrange.Report

// Position is the position of a record: the Path of its file, and Record, its number in the file from
// 0.
type Position = source.Position

// UnfitError is the error for undamaged records whose contents do not allow the operation: for
// example, values of several kinds cannot be sorted. Err has file and record.
type UnfitError = source.UnfitError
