package reshape

import "github.com/tfrec/tfrec/shard/internal/source"

// Progress counts the work that a run has done so far: Planned is the number of records to process, or
// 0 while they are counted, Done the number of those processed, and Bytes their size with framing. A
// run that reads its input twice counts each record twice. The fields may be read during the run.
type Progress = source.Progress

// Position is the position of a record: the Path of its file, and Record, its number in the file from
// 0.
type Position = source.Position

// UnfitError is the error for undamaged records whose contents do not allow the operation: for
// example, values of several kinds cannot be sorted. Err has file and record.
type UnfitError = source.UnfitError
