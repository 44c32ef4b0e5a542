package convert

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/tables"
)

// Job is a conversion whose shards are made one by one, by number, in an order and by processes
// chosen by the caller, such as a pipeline engine. One process begins it (BeginImages, BeginCSV,
// BeginTable) and ends it with Run; others may join it (JoinImages, JoinCSV, JoinTable) with the
// same input, options and output directory, and make shards of it. Each process plans once by
// itself and compares its plan with the one in the directory, like the tasks of an array job.
//
// Shards and Shard count and name the shards of the set, Todo has the numbers of those to make, Make
// makes one and is safe for concurrent use, Progress counts, Plan identifies the plan, and Close
// releases it. Making a shard twice, even concurrently, gives the same shard. Shards that are in place
// and up to date are kept.
type Job = plan.Job

// Made describes a shard of a Job: its File, the Samples planned for it, its Records, the Errors and
// Filtered samples that have none, and the Bytes of the file.
type Made = plan.Made

// BeginImages plans what Images would do with the same arguments, as a Job whose Run does it. It
// writes the plan into the directory out, which it shares with the processes that join, and removes
// the manifest if there is something to make. A plan whose shards were never made into a set is
// abandoned for another one, unless a process is working on it: then the error unwraps to
// shard.ErrBusy. Options.Task and Options.DryRun must not be set. The caller must Close the Job.
func BeginImages(ctx context.Context, src, out string, o ImageOptions) (*Job, error) {
	return plan.Begin(ctx, &imageInput{o: &o, src: src}, out)
}

// BeginCSV is BeginImages for CSV.
func BeginCSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Job, error) {
	return plan.Begin(ctx, tables.NewCSV(srcs, o, stated.SplitsOfFiles), out)
}

// BeginTable is BeginImages for Table.
func BeginTable(ctx context.Context, srcs []string, out string, o TableOptions) (*Job, error) {
	return plan.Begin(ctx, tables.New(srcs, o, stated.SplitsOfFiles), out)
}

// JoinImages joins the job that another process began with BeginImages, to make some of its shards.
// It plans the conversion again. Its arguments must be the same, except for Workers, Retries,
// Overwrite, HashInputs, Depfile, Progress and Note. If the plans differ, the error describes the
// difference: the input may look different on this machine. The caller must Close the Job.
func JoinImages(ctx context.Context, src, out string, o ImageOptions) (*Job, error) {
	return plan.Join(ctx, &imageInput{o: &o, src: src}, out)
}

// JoinCSV is JoinImages for CSV. With Shuffle, each process that joins reads all tables.
func JoinCSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Job, error) {
	return plan.Join(ctx, tables.NewCSV(srcs, o, stated.SplitsOfFiles), out)
}

// JoinTable is JoinCSV for Table.
func JoinTable(ctx context.Context, srcs []string, out string, o TableOptions) (*Job, error) {
	return plan.Join(ctx, tables.New(srcs, o, stated.SplitsOfFiles), out)
}
