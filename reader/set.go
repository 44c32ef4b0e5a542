package reader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options say what of a set is read and how. The zero value reads all of it,
// checks all of it, and fails on the first damaged record.
type Options struct {
	// Split takes only that split of sets that have a manifest. Files that no
	// manifest names belong to no split. Default: everything.
	Split string

	// Worker of Workers reads only its part of the set (see [Set.Sharding]).
	// Workers 0 is 1; Worker counts from 0.
	Worker, Workers int
	// ShardBy says how the parts are cut.
	ShardBy ShardBy
	// Ends says what is done about parts that are not equally long.
	Ends Ends

	// Seed of all that is random: the order of files, [Pipe.Shuffle] and
	// [Set.ShuffleAll].
	Seed uint64
	// ShuffleFiles takes the files in another order in each epoch.
	ShuffleFiles bool

	// Parallelism is the budget of processors: how many goroutines of all
	// stages together work at the same time. Stages whose own number of workers
	// is not given begin with as many as there are cores, and change that
	// within this budget with what they see. Default: GOMAXPROCS.
	Parallelism int
	// Readers is how many reads of files may be under way at the same time.
	// Default: as many as there are cores, and up to four times as many, or 16,
	// while that brings more of a slow storage.
	Readers int
	// Memory bounds what is in flight, in bytes: read ahead, decoded, in queues,
	// in the buffers of [Pipe.Shuffle] and in the hands of the consumer (see
	// [MemoryStats]). Nothing is read or made ahead beyond it. What is waited for
	// comes all the same, so that elements which alone need more than an eighth
	// of it, with their records, may go over it, and so may Shuffle buffers that
	// need more than five eighths. Buffers have a least size: less than 4 MiB, or
	// 128 KiB for each file of an Interleave's cycle, may not be kept to. Default: a
	// quarter of the memory that this process may use, 1 GiB at most, and Shuffle
	// buffers besides.
	Memory int64
	// Sloppy gives what is ready and waits for no slow file. The order is then
	// another one each time; the records are the same.
	Sloppy bool
	// BatchWithinEpoch ends a batch where a pass over the set ends, so that none has
	// records of two (see [Record.Epoch]): the last one of a pass is smaller, or left
	// out where remainders are dropped. It matters where a [Pipe.Repeat] comes before
	// the batches; no Shuffle may come between, since that mixes passes. Default:
	// batches go on across passes, as tf.data's do.
	BatchWithinEpoch bool

	// Compression of the files. Default: told from each file.
	Compression tfrecord.Compression
	// Checksum says what is checked. Default: everything.
	Checksum tfrecord.Checksum
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64
	// Partial takes what is there of sets that are not whole. Default: a set that
	// lacks shards is an error, a *[shard.IncompleteError].
	Partial bool
	// Note, when not nil, is called by Open with a sentence about each set that is
	// taken in part.
	Note func(sentence string)
	// SkipBad says how much damage is passed over. Default: none.
	SkipBad SkipBad
	// OnSkip, when not nil, is told of all that is passed over, one call at a
	// time: of each stage in the order of the records around it, and from any
	// goroutine of the pipeline.
	OnSkip func(Skipped)

	// memoryGiven says that Memory is no default.
	memoryGiven bool
}

// maxParallelism bounds Options.Parallelism.
const maxParallelism = 1 << 12

// mostMemory bounds the default of Options.Memory: more of it brings no speed.
const mostMemory = 1 << 30

// defaultMaxRecord is tfrecord's.
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
	if o.ShardBy > ByRecord || o.Ends > PadEnds {
		return fmt.Errorf("ShardBy %d, Ends %d: want one of the constants", o.ShardBy, o.Ends)
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

// Set is the files of a dataset, and which part of them is read. It is safe
// for concurrent use.
type Set struct {
	opts    Options
	sources []shard.Source

	mu          sync.Mutex
	stamps      []stamp      // by source
	indexes     []*fileIndex // by source; nil until needed
	parts       []piece      // this worker's; nil until needed
	fingerprint string       // "" until identify
}

// Open opens what path stands for: a file, a glob, a directory of shards or a
// manifest (see [shard.Expand]). An empty match is an error that unwraps to
// [shard.ErrNoRecords]. A file that turns out to have fewer records than its
// manifest says, or its index file, is an error where they end, without SkipBad. ctx is
// for Open alone: a Stream has its own.
//
// Files are to be left alone as long as the Set is used. Their sizes and times are
// noted, and looked at again when a file is opened and when it has been read: one
// that was written or replaced meanwhile is an error that unwraps to [ErrChanged].
func Open(ctx context.Context, path string, o Options) (*Set, error) {
	return OpenAll(ctx, []string{path}, o)
}

// OpenAll opens what all paths stand for, in the order of the files' names.
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
	s := &Set{opts: o, sources: sources, indexes: make([]*fileIndex, len(sources))}
	if err := s.stampFiles(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// withRemedy adds to the error of a set that is not whole what makes it whole.
func withRemedy(err error) error {
	var part *shard.IncompleteError
	if !errors.As(err, &part) {
		return err
	}
	then := "complete it with the tfrec command that wrote it"
	switch {
	case part.Tasks:
		then = "run the remaining tasks of the array job, then convert.Finalize"
	case part.Command() != "":
		then = "make it whole with: " + part.Command()
	}
	return fmt.Errorf("%w; %s; Options.Partial reads the shards that exist", err, then)
}

// splitsOf says which splits there are, those without records included.
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

// Sources returns the files, in the order of their names, those of other
// workers included. The slice is the Set's.
func (s *Set) Sources() []shard.Source { return s.sources }

// Path returns the path of the file that a record is of.
func (s *Set) Path(r Record) string { return s.sources[r.File].Path }

// Locate adds file, record and offset to an error that parsing the record gave,
// as [tfrecord.Example.Parse] does. Other errors it returns as they are.
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
