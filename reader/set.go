package reader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options configure what is read of a set, and how. The zero value reads everything, verifies
// everything, and fails on the first damaged record.
type Options struct {
	// Split selects a split of sets that have a manifest. Files outside a manifest belong to no
	// split. Default: everything.
	Split string

	// Worker is the index of this worker out of Workers, counted from 0; it reads only its part of
	// the set (see [Set.Sharding]). Workers 0 means 1.
	Worker, Workers int
	// ShardBy says how the set is divided.
	ShardBy ShardBy
	// Uneven says how to handle parts of unequal length.
	Uneven Uneven

	// Seed of all randomness: the order of files, [Pipe.Shuffle] and [Set.ShuffleAll].
	Seed uint64
	// ShuffleFiles reads the files in a different order in each epoch.
	ShuffleFiles bool

	// Parallelism is the processor budget: how many goroutines of all stages together work at the
	// same time, but for functions that wait (see [MapOptions]). Stages without an explicit number of
	// workers begin with one per core, and adjust that within this budget to what they measure.
	// Default: GOMAXPROCS.
	Parallelism int
	// Readers is the maximum number of concurrent file reads. Default: the number of cores, and up
	// to four times that, or 16, while more reads get more out of slow storage.
	Readers int
	// Memory bounds what is in flight, in bytes: read ahead, decoded, in queues, in the buffers of
	// [Pipe.Shuffle] and in use by the consumer (see [MemoryStats]). Nothing is read or made in
	// advance beyond it. What the consumer waits for is made regardless, so that elements that
	// alone need more than an eighth of it, with their records, may exceed it, and so may Shuffle
	// buffers that need more than five eighths. Buffers have a minimum size: a limit below 4 MiB,
	// or 128 KiB for each file of an Interleave's cycle, may be exceeded. Default: a quarter of the
	// memory available to this process, at most 1 GiB, not counting Shuffle buffers.
	Memory int64
	// Unordered returns what is ready instead of waiting for a slow file. The order then differs
	// from run to run; the records are the same.
	Unordered bool
	// BatchWithinEpoch ends a batch at the end of a pass over the set, so that no batch mixes two
	// (see [Record.Epoch]): the last one of a pass is smaller, or dropped if remainders are. It
	// matters if a [Pipe.Repeat] comes before the batches; a Shuffle between them is an error,
	// since it mixes passes. Default: batches continue across passes, as in tf.data.
	BatchWithinEpoch bool

	// PoisonRecycled overwrites the memory of records and batches as soon as they are no longer
	// valid: bytes with 0xdb, numbers with bytes of it, floats with NaN. A program that keeps a
	// batch instead of a Clone then fails in its first test. It costs a pass over the memory.
	PoisonRecycled bool

	// Compression of the files. Default: detected for each file.
	Compression tfrecord.Compression
	// Checksum says what is verified. Default: everything.
	Checksum tfrecord.Checksum
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Partial reads the existing shards of incomplete sets. Default: a missing shard is an error, a
	// *[shard.IncompleteError].
	Partial bool
	// Note, if not nil, is called by Open with a sentence about each set that is read in part.
	Note func(sentence string)
	// SkipBad limits how much damage is skipped. Default: none.
	SkipBad SkipBad
	// OnSkip, if not nil, is called for everything that is skipped, one call at a time: for each
	// stage in the order of the records, and from any goroutine of the pipeline.
	OnSkip func(Skipped)

	// Logger, if not nil, gets the events that a job should know, with these attributes:
	//
	//	Warn   "skipped damage"      path, record, offset, records, bytes, epoch, error; skipped: so far
	//	Warn   "bytes changed in transit"   path, offset, bytes, error; refetched: so far
	//	Warn   "cache discarded"     cache, error
	//	Warn   "global order exceeds memory"   order, set_bytes, read_bytes, requests, memory, memory_needed
	//	Info   "cache opened"        cache, records
	//	Info   "cache built"         cache, records, partial
	//	Info   "cache is filled by another process"   cache
	//	Info   "tuning settled"      stage, workers, queue, changes
	//	Debug  "stream ended"        epochs, elements, skipped, seconds, bottleneck
	//
	// A global order over a set in an object store that is not kept in memory is logged once, with
	// estimates of the bytes that an epoch reads and the requests that it makes; with Memory of
	// memory_needed bytes, the set is read once. Bytes of an object that were damaged on their way, or
	// in a cache of objects, were fetched again; they are right unless there is an error. Bytes is 0
	// for a compressed file, which is read again from its beginning. The attribute cache is the
	// directory, or "memory". There is no event per record: of the damage skipped in a run, and of
	// what was fetched again, the first ten are logged, and then one every ten seconds. The settings
	// of a stage are logged again only if they settle on others. Default: no events.
	Logger *slog.Logger

	// memoryGiven means that Memory was set explicitly.
	memoryGiven bool
}

// maxParallelism bounds Options.Parallelism.
const maxParallelism = 1 << 12

// mostMemory bounds the default of Options.Memory: more does not help.
const mostMemory = 1 << 30

// defaultMaxRecord is the default of package tfrecord.
const defaultMaxRecord = 1 << 30

func (o *Options) complete() error {
	for _, given := range []struct {
		name string
		n    int64
	}{
		{"Workers", int64(o.Workers)}, {"Parallelism", int64(o.Parallelism)}, {"Readers", int64(o.Readers)},
		{"Memory", o.Memory}, {"MaxRecord", o.MaxRecord},
	} {
		if given.n < 0 {
			return fmt.Errorf("%s %d: want 0 for the default, or more", given.name, given.n)
		}
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Worker < 0 || o.Worker >= o.Workers || o.Workers > maxParts {
		return fmt.Errorf("worker %d of %d: want a number from 0 and below the number of workers, %d at most", o.Worker, o.Workers, maxParts)
	}
	if o.Checksum > tfrecord.ChecksumOff || o.Compression > tfrecord.Zstd {
		return fmt.Errorf("a Checksum of %d, a Compression of %d: want one of the constants", o.Checksum, o.Compression)
	}
	if o.ShardBy > ShardRecords || o.Uneven > UnevenPad {
		return fmt.Errorf("ShardBy %d, Uneven %d: want one of the constants", o.ShardBy, o.Uneven)
	}
	if o.Parallelism == 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	if o.Parallelism > maxParallelism {
		return fmt.Errorf("parallelism of %d: want %d at most", o.Parallelism, maxParallelism)
	}
	if o.Readers > maxReaders {
		return fmt.Errorf("%d Readers: want 0 to %d", o.Readers, maxReaders)
	}
	if o.memoryGiven = o.Memory > 0; !o.memoryGiven {
		o.Memory = min(memory.Limit()/4, mostMemory)
	}
	if o.MaxRecord == 0 {
		o.MaxRecord = defaultMaxRecord
	}
	return o.SkipBad.check()
}

func (o *Options) framing() tfrecord.Framing { return o.readerOptions("").Framing() }

func (o *Options) readerOptions(name string) tfrecord.ReaderOptions {
	return tfrecord.ReaderOptions{Name: name, Compression: o.Compression, Checksum: o.Checksum, MaxRecord: o.MaxRecord}
}

// Set is the files of a dataset, and the part of them that is read. It is safe for concurrent use.
type Set struct {
	opts Options
	*files
	parts []piece // this worker's; nil until needed
}

// files is what sets with different options share.
type files struct {
	sources []shard.Source

	mu          sync.Mutex   // also for the parts of the sets
	stamps      []stamp      // by source
	indexes     []*fileIndex // by source; nil until needed
	fingerprint string       // "" until identify

	joined []*Set // whose files these are, one set after another; nil: those of Open
}

// with returns a set of the same files with other options, which mean the same for each file.
func (s *Set) with(change func(*Options)) *Set {
	other := &Set{opts: s.opts, files: s.files}
	change(&other.opts)
	return other
}

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
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Note})
	if err != nil {
		return nil, withRemedy(err)
	}
	if o.Split != "" {
		all := sources
		sources = slices.DeleteFunc(slices.Clone(sources), func(s shard.Source) bool { return s.Split != o.Split })
		if len(sources) == 0 {
			return nil, fmt.Errorf("%s: %w in a split %q; %s", paths[0], shard.ErrNoRecords, o.Split, splitsOf(all))
		}
	}
	s := &Set{opts: o, files: &files{sources: sources, indexes: make([]*fileIndex, len(sources))}}
	if err := s.stampFiles(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// withRemedy adds to the error of an incomplete set how to complete it.
func withRemedy(err error) error {
	var part *shard.IncompleteError
	if !errors.As(err, &part) {
		return err
	}
	then := "complete it with the tfrec command that wrote it"
	switch {
	case part.Tasks:
		then = fmt.Sprintf("run the remaining tasks of the array job, then %s", optname.ConvertFinalize)
	case part.Command() != "":
		then = "make it whole with: " + part.Command()
	}
	return fmt.Errorf("%w; %s; %s reads the shards that exist", err, then, optname.OptionsPartial)
}

// splitsOf lists the existing splits, including empty ones.
func splitsOf(sources []shard.Source) string {
	var names []string
	for _, s := range sources {
		if s.Set != nil {
			for _, split := range s.Set.Splits {
				names = append(names, split.Name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return "no manifest names any: leave Split empty, or give the files of the split"
	}
	return "there are: " + strings.Join(names, ", ")
}

// Sources returns the files, ordered by name, including those of other workers. The slice belongs
// to the Set.
func (s *Set) Sources() []shard.Source { return s.sources }

// Path returns the path of the record's file.
func (s *Set) Path(r Record) string { return s.sources[r.File].Path }

// Locate adds file, record and offset to an error from parsing the record, such as that of
// [tfrecord.Example.Parse]. Other errors are returned unchanged.
func (s *Set) Locate(r Record, err error) error {
	var e *tfrecord.Error
	if !errors.As(err, &e) || e.Record >= 0 {
		return err
	}
	return &tfrecord.Error{
		Name: s.Path(r), Record: r.Number, Offset: r.Offset, Part: e.Part,
		Err: fmt.Errorf("byte %d of the record: %w", e.Offset, e.Err),
	}
}
