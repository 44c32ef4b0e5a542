package pipeline

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options configure how a set is read. The zero value reads everything, verifies everything, and
// fails on the first damaged record.
type Options struct {
	// Split selects a split of sets that have a manifest. Files outside a manifest belong to no
	// split. Default: everything.
	Split string

	// Worker is the index of this worker out of Workers, counted from 0; it reads only its part of
	// the set (see Set.Sharding). Workers 0 means 1.
	Worker, Workers int
	// ShardBy is the way to divide the set among workers.
	ShardBy ShardBy
	// Uneven is the way to handle parts of unequal length.
	Uneven Uneven

	// Seed of all randomness: the order of files, Flow.Shuffle and Set.ShuffleAll.
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
	// Memory limits the bytes in flight: read ahead, decoded, in queues, in the buffers of
	// Flow.Shuffle and in use by the consumer (see [MemoryStats]). Nothing is read or made in
	// advance beyond it. An element that the consumer waits for is made regardless. So elements
	// that need more than an eighth of the limit, with their records, may exceed it, and so may
	// Shuffle buffers that need more than five eighths. Buffers have a minimum size: a limit below
	// 4 MiB, or 128 KiB for each file of an Interleave's cycle, may be exceeded. Default: a quarter
	// of the memory available to this process, at most 1 GiB, not counting Shuffle buffers.
	Memory int64
	// Unordered returns records as they are ready instead of waiting for a slow file. The order
	// then differs from run to run; the records are the same.
	Unordered bool
	// BatchWithinEpoch ends a batch at the end of a pass over the set, so that no batch mixes two
	// (see [Record.Epoch]): the last one of a pass is smaller, or dropped if remainders are. It
	// matters if a Flow.Repeat comes before the batches; a Shuffle between them is an error,
	// since it mixes passes. Default: batches continue across passes, as in tf.data.
	BatchWithinEpoch bool

	// PoisonRecycled overwrites the memory of records and batches as soon as it may be reused:
	// bytes with 0xdb, numbers with bytes of it, floats with NaN. A program that keeps a batch
	// instead of a Clone then fails in its first test. It costs a pass over the memory.
	PoisonRecycled bool

	// Compression of the files. Default: detected for each file.
	Compression tfrecord.Compression
	// Checksum selects the checksums to verify. Default: all.
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
	// memory_needed bytes, the set is read once. Bytes of an object that were damaged on their way,
	// or in a cache of objects, were fetched again; they are right unless there is an error. Bytes
	// is 0 for a compressed file, which is read again from its beginning. The attribute cache is
	// the directory, or "memory". Skipped damage and repeated fetches are not logged each: a run
	// logs the first ten of either, and then one every ten seconds. The settings of a stage are
	// logged again only if they settle on others. Default: no events.
	Logger *slog.Logger

	// memoryGiven means that Memory was set explicitly.
	memoryGiven bool
}

// maxParallelism bounds Options.Parallelism.
const maxParallelism = 1 << 12

// MostMemory bounds the default of Options.Memory: more does not help.
const MostMemory = 1 << 30

// defaultMaxRecord is the default of package tfrecord.
const defaultMaxRecord = 1 << 30

// CompleteOptions fills in defaults and returns an error for invalid fields.
func CompleteOptions(o *Options) error {
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
	if o.Worker < 0 || o.Worker >= o.Workers || o.Workers > MaxParts {
		return fmt.Errorf("worker %d of %d: want a number from 0 and below the number of workers, %d at most", o.Worker, o.Workers, MaxParts)
	}
	if o.Checksum > tfrecord.ChecksumOff || o.Compression > tfrecord.CompressionZstd {
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
	if o.Readers > MaxReaders {
		return fmt.Errorf("%d Readers: want 0 to %d", o.Readers, MaxReaders)
	}
	if o.memoryGiven = o.Memory > 0; !o.memoryGiven {
		o.Memory = min(memory.Limit()/4, MostMemory)
	}
	if o.MaxRecord == 0 {
		o.MaxRecord = defaultMaxRecord
	}
	return o.SkipBad.check()
}

// Framing returns the framing of the files.
func Framing(o *Options) tfrecord.Framing { return ReaderOptions(o, "").Framing() }

// ReaderOptions returns the options of a reader of the named file.
func ReaderOptions(o *Options, name string) tfrecord.ReaderOptions {
	return tfrecord.ReaderOptions{Name: name, Compression: o.Compression, Checksum: o.Checksum, MaxRecord: o.MaxRecord}
}

// ShardBy is a way to divide a set among workers.
type ShardBy uint8

const (
	// ShardAuto divides by file if each worker gets at least one and the parts may be uneven, else
	// by record.
	ShardAuto ShardBy = iota
	// ShardFiles assigns files i, i + workers, … of the set to worker i. Nothing is counted.
	ShardFiles
	// ShardRecords assigns each worker a run of records, with lengths that differ by at most one.
	// Compressed files are read from the beginning up to the start of a run.
	ShardRecords
)

// Uneven is a way to handle workers that have fewer records than others.
type Uneven uint8

const (
	// UnevenKeep leaves the parts uneven: each record is read once.
	UnevenKeep Uneven = iota
	// UnevenDrop drops records of the longer parts, so that all have the same number.
	UnevenDrop
	// UnevenPad repeats records of the shorter parts (see [Record.Pad]).
	UnevenPad
)

// Upper bounds for settings: workers of a job, and goroutines.
const (
	MaxParts   = 1 << 20
	maxWorkers = 1 << 16
)

// MaxReaders bounds Options.Readers. autoReaders bounds the automatic choice, or four times the
// Parallelism if that is more: waiting for storage takes no processor.
const (
	MaxReaders  = 1 << 12
	autoReaders = 16
)
