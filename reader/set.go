package reader

import (
	"context"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/shard"
)

// Set is the files of a dataset, and the part of them that is read. It is safe for concurrent use.
type Set struct{ files *fileset.Set }

// Open opens what path names: a file, a glob, a directory of shards or a manifest (see
// [shard.Expand]). No match is an error that unwraps to [shard.ErrNoRecords]. A file with fewer
// records than its manifest or index file says is an error where it ends, unless SkipBad allows
// that. ctx is for Open alone: a stream has its own.
//
// Files must not change while the Set is in use. Their sizes and times are recorded, and compared
// when a file is opened and after it was read: a file that was written or replaced in between is an
// error that unwraps to [ErrChanged].
func Open(ctx context.Context, path string, o Options) (*Set, error) {
	return OpenAll(ctx, []string{path}, o)
}

// OpenAll opens what all paths name, in the order of the file names.
func OpenAll(ctx context.Context, paths []string, o Options) (*Set, error) {
	files, err := fileset.OpenAll(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	return &Set{files}, nil
}

// Records returns the records of all files, one file after another, in the order of the files.
func (s *Set) Records() Pipe { return s.Interleave(1, 1) }

// Interleave returns the records of cycle files in turn, block records from each, in the order of
// tf.data's Dataset.interleave with cycle_length and block_length, whatever the parallelism. The
// next file replaces one that has ended when its turn comes again.
//
// The files of a cycle, and as many of the following ones as there are goroutines, are read ahead
// within [Options.Memory].
func (s *Set) Interleave(cycle, block int) Pipe {
	return Pipe{set: s.files, last: records.Interleave(s.files, cycle, block)}
}

// ShuffleAll returns the records of all files in one random order, a different one in each epoch: a
// permutation that is computed, not stored. Worker i of n takes indexes i, i + n, i + 2n … of it.
// The files must be uncompressed; those without an index file are scanned once, header by header,
// before the first record.
//
// Records are read thousands at once, in file order: the more of the set that is, the less is read
// between them. In an object store, a set of up to five eighths of [Options.Memory] is read once and
// kept there; each epoch over a larger one of small records reads it several times.
func (s *Set) ShuffleAll(o ShuffleAllOptions) Pipe {
	return Pipe{set: s.files, last: records.ShuffleAll(s.files, o)}
}

// Sample returns the records that a [Sampler] lists, in its order: a subset, weighted draws
// ([WeightedSampler]), a curriculum ([SortedSampler]), or anything else. It is as [Set.ShuffleAll]
// in all other respects: worker i of n takes elements i, i + n …, the files must be uncompressed,
// and a State may be resumed with another number of workers.
func (s *Set) Sample(from Sampler) Pipe {
	return Pipe{set: s.files, last: records.Sample(s.files, from)}
}

// Sources returns the files of all workers, ordered by name. The slice belongs to the Set.
func (s *Set) Sources() []shard.Source { return s.files.Sources() }

// Path returns the path of the record's file.
func (s *Set) Path(r Record) string { return s.files.Path(r) }

// Locate adds file, record and offset to an error from parsing the record, as by
// [tfrecord.Example.Parse]. Other errors are returned unchanged.
func (s *Set) Locate(r Record, err error) error { return s.files.Locate(r, err) }

// Len returns the number of records in the whole set, for all workers. Files without an index are
// counted when Len is first called.
func (s *Set) Len(ctx context.Context) (int64, error) { return s.files.Len(ctx) }

// At reads record n of the whole set, 0 ≤ n < Len, in the order of [Set.Records], and appends its
// data to dst. The files must be uncompressed. Each call opens the file: to read many records,
// iterate instead.
func (s *Set) At(ctx context.Context, dst []byte, n int64) (Record, error) {
	return s.files.At(ctx, dst, n)
}

// Fingerprint returns the identity of the set: a hash over the files' names without directories,
// their sizes and, if the manifest has them, their digests. For files outside a manifest, the first
// and last 4 KiB represent the content.
func (s *Set) Fingerprint(ctx context.Context) (string, error) { return s.files.Fingerprint(ctx) }

// Sharding describes in one line what this worker reads and how the set was divided. It does not
// apply to [Set.ShuffleAll], which divides records in its own way.
func (s *Set) Sharding() string { return s.files.Sharding() }

// Schema returns the schema of the set's manifest, or infers one from its first records as
// described at [ColumnSpec].
func (s *Set) Schema(ctx context.Context) (columns.Schema, error) { return flows.Schema(ctx, s.files) }

// Input returns which of the pipes of [Mix] or [Concat] the record came from, counted from 0. For a
// set of Open it is 0.
func (s *Set) Input(r Record) int { return s.files.Input(r) }
