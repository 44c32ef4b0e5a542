package convert

import (
	"context"
)

// BeginImages plans what Images would do with the same arguments, as a Job whose Run does it. It
// writes the plan into the directory out, which it shares with the processes that join, and removes
// the manifest if there is something to make. A plan whose shards were never made into a set is
// abandoned for another one, unless a process is working on it: then the error unwraps to
// shard.ErrBusy. Options.Task and Options.DryRun must not be set. The caller must Close the Job.
func BeginImages(ctx context.Context, src, out string, o ImageOptions) (*Job, error) {
	return begin(ctx, &imageInput{o: &o, src: src}, out)
}

// BeginCSV is BeginImages for CSV.
func BeginCSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Job, error) {
	return begin(ctx, csvInput(srcs, o), out)
}

// BeginTable is BeginImages for Table.
func BeginTable(ctx context.Context, srcs []string, out string, o TableOptions) (*Job, error) {
	return begin(ctx, newTableInput(srcs, o), out)
}

// JoinImages joins what another process began with BeginImages, to make shards of it; it plans
// again. Its arguments must be the same, except for Workers, Retries, Overwrite, HashInputs,
// Depfile, Progress and Note. If the plans differ, the error says how: the input may look different
// on this machine. The caller must Close the Job.
func JoinImages(ctx context.Context, src, out string, o ImageOptions) (*Job, error) {
	return join(ctx, &imageInput{o: &o, src: src}, out)
}

// JoinCSV is JoinImages for CSV. With Shuffle, each process that joins reads all tables.
func JoinCSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Job, error) {
	return join(ctx, csvInput(srcs, o), out)
}

// JoinTable is JoinCSV for Table.
func JoinTable(ctx context.Context, srcs []string, out string, o TableOptions) (*Job, error) {
	return join(ctx, newTableInput(srcs, o), out)
}
