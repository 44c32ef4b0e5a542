package reader

import (
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/images"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Options configure what is read of a set, and how. The zero value reads everything, verifies
// everything, and fails on the first damaged record.
type Options = pipeline.Options

// ShardBy says how a set is divided among workers.
type ShardBy = pipeline.ShardBy

// Uneven says how to handle workers that have fewer records than others.
type Uneven = pipeline.Uneven

// SkipBad limits how much damage an epoch may skip before it fails. Each of these counts as one,
// against the same limit: a record with corrupt data, a stretch of broken framing, a compressed
// file that cannot be decompressed to its end, and a record that cannot be parsed or decoded, or
// for which a function of [Map], [Pipe.Map] or [Pipe.Filter] returns an error. So does each record
// missing at the end of a file, according to its manifest or, without one, its index file: nothing
// else reveals a file that was cut off between two records, or that lost several in one stretch.
// Without manifest and index such a file looks complete.
//
// After broken framing, reading resumes at the next header whose length and data both match their
// CRC. Compressed files are decompressed a second time for that. Where a stream cannot be
// decompressed, and after broken framing in a pipe, the rest of the file is lost.
//
// Batches of columns and images shrink by the records left out of them, even with DropRemainder; a
// batch with no good record is not returned. Operating system errors are never skipped.
type SkipBad = pipeline.SkipBad

// Skipped describes damage that was skipped.
type Skipped = pipeline.Skipped

// Record is one record as read, and its position.
type Record = pipeline.Record

// State records what a consumer has received: after [Pipe.Resume] the next record is the one that
// follows. It is small (positions in files, never data), plain JSON, and only valid for the same
// dataset, wherever it is stored, and the same stages.
//
// Resuming costs reading one block again. After a [Pipe.Shuffle] of n elements it costs reading
// about n·(ln n + 1) elements to refill the buffer; for compressed files also what precedes the
// position in each of the open ones. A [Pipe.Cache] or [Flow.Cache] that is not complete on disk
// makes its epoch again from the beginning.
type State = pipeline.State

// StagePosition is the position of a stage, in numbers of its own.
type StagePosition = pipeline.StagePosition

// MapOptions are the options of [Map]; the zero value preserves the order.
type MapOptions = pipeline.MapOptions

// StageStats are the counters of a stage. Times are sums over its workers.
type StageStats = pipeline.StageStats

// MemoryStats is the memory that a running pipeline has in flight: buffers of what is read ahead,
// batches in progress, in queues and in use by the consumer, and, if MapOptions.Size is set, the
// results of [Map] functions. A [Pipe.Cache] in memory is not included: it has its own limit.
type MemoryStats = pipeline.MemoryStats

// Report is the progress of a running pipeline.
type Report = pipeline.Report

// How a set is divided among workers: see [ShardBy].
const (
	ShardAuto    = pipeline.ShardAuto
	ShardFiles   = pipeline.ShardFiles
	ShardRecords = pipeline.ShardRecords
)

// How workers with fewer records than others are handled: see [Uneven].
const (
	UnevenKeep = pipeline.UnevenKeep
	UnevenDrop = pipeline.UnevenDrop
	UnevenPad  = pipeline.UnevenPad
)

// StateFormat and StateVersion identify the format of a [State].
const (
	StateFormat  = pipeline.StateFormat
	StateVersion = pipeline.StateVersion
)

// ShuffleAllOptions are the options of [Set.ShuffleAll].
type ShuffleAllOptions = records.ShuffleAllOptions

// Sampler lists the records of each epoch, as a torch.utils.data.Sampler does.
type Sampler = records.Sampler

// WeightedOptions are the options of [WeightedSampler].
type WeightedOptions = records.WeightedOptions

// SortedOptions are the options of [SortedSampler]; the zero value sorts all records.
type SortedOptions = records.SortedOptions

// CacheOptions configure [Pipe.Cache] and [Flow.Cache], where an element counts as a record of its
// bytes; the zero value caches in memory.
type CacheOptions = stages.CacheOptions

// ShuffleOptions are the options of [Pipe.ShuffleWith].
type ShuffleOptions = stages.ShuffleOptions

// MixOptions are the options of [Mix]; the zero value draws from all pipes with equal probability.
type MixOptions = stages.MixOptions

// ResampleOptions are the options of [Pipe.Resample].
type ResampleOptions = stages.ResampleOptions

// RecordBatch is a run of consecutive records as read. It and its data are valid until the next
// batch is requested: keep a Clone.
type RecordBatch = flows.RecordBatch

// ColumnSpec configures how records become columns.
type ColumnSpec = flows.ColumnSpec

// ColumnBatch is a batch of records as columns. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone.
type ColumnBatch = flows.ColumnBatch

// Indexed is an element of [Enumerate].
type Indexed[T any] = flows.Indexed[T]

// BucketOptions are the options of [BucketByLength].
type BucketOptions = flows.BucketOptions

// PackOptions are the options of [Pack].
type PackOptions = flows.PackOptions

// PackedBatch is a batch of rows with several sequences each. It is valid until the next batch is
// requested, which reuses its memory: keep a Clone. Tokens, Segments and Positions are tensors of
// Shape in row-major order, which tensor libraries take without a copy.
type PackedBatch[N int32 | int64] = flows.PackedBatch[N]

// ImageSpec configures how records become batches of images.
type ImageSpec = images.ImageSpec

// ImageBatch is a batch of images as one tensor. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone. If ImageSpec.Backend is an [augment.HostAllocator], the
// samples are in its memory, unless the Frames are [columns.Longest]. It is freed when the [Stream]
// is closed: a copy to a device that does not wait must have ended before the next batch is
// requested, and before Close.
type ImageBatch = images.ImageBatch

// DType is the type of the samples of an image.
type DType = images.DType

// The types of samples: see [DType].
const (
	Uint8    = images.Uint8
	Float32  = images.Float32
	Float16  = images.Float16
	BFloat16 = images.BFloat16
)

// Keys of the features of images and labels, unless an [ImageSpec] names others.
const (
	DefaultImageKey = images.DefaultImageKey
	DefaultLabelKey = images.DefaultLabelKey
)

// ErrState means that a [State] does not match the pipeline: it is of another dataset, other stages
// or other settings.
var ErrState = pipeline.ErrState

// ErrTooManyBad means that more records are damaged than [SkipBad] allows.
var ErrTooManyBad = pipeline.ErrTooManyBad

// ErrChanged means that a file is not the same as when its [Set] was opened. The error that unwraps
// to it is an [*fs.PathError].
var ErrChanged = fileset.ErrChanged

// ErrCacheFull means that there is more to cache than [CacheOptions] allow or the disk has room
// for.
var ErrCacheFull = stages.ErrCacheFull

// ErrOtherCache means that the cache in a directory is of another dataset, other stages or another
// version.
var ErrOtherCache = stages.ErrOtherCache

// WeightedSampler draws records with probabilities proportional to their weights: weights[i] is
// that of record i, a number of 0 or more, and there is one for each record of the whole set. To
// draw classes equally often, give each record 1 / the number of records of its class, with
// Replacement; the [Set.Records] of a set opened without Workers are in the order of the weights.
// The weights are not changed, and must not be while the sampler is in use.
//
// It is torch.utils.data.WeightedRandomSampler. With replacement it uses the alias method (Vose: A
// Linear Algorithm for Generating Random Numbers with a Given Distribution, 1991), with 16 bytes of
// memory for each weight and 8 for each element of an epoch; without, exponential keys (Efraimidis,
// Spirakis: Weighted Random Sampling with a Reservoir, 2006), with 24 bytes for each weight, which
// are sorted at the beginning of each epoch.
func WeightedSampler(weights []float64, o WeightedOptions) Sampler {
	return records.WeightedSampler(weights, o)
}

// SortedSampler orders records by keys, ascending: keys[i] is that of record i, such as its
// difficulty or its length, and must not be NaN; there is one for each record of the whole set.
// Equal keys keep the order of the records. The keys must not be changed while the sampler is in
// use.
func SortedSampler(keys []float64, o SortedOptions) Sampler { return records.SortedSampler(keys, o) }

// MergeStates combines the States of all workers of a job, in any order, into one with which any
// number of workers continue: each resumes from it with its own Worker and Workers in the
// [Options]. Element t of worker i counts as element t·workers + i of the job, and new worker j of
// m takes elements j, j + m …, so that every record of the epoch is read once, and workers at the
// same step with batches of the same total size get the same records as before in each step. The
// next epoch is divided as if the job had begun with the new workers.
//
// For the rest of the epoch a new worker runs the pipelines of the old workers that it continues,
// and drops the elements of others: half as many workers run two each; twice as many run one each
// and read all of it. The memory is divided among them. A global order ([Set.ShuffleAll] and
// Repeat) needs no such detour if all States are of the same step.
//
// The new workers open the set with the options of the former ones, except for Worker and Workers.
// What the flows of the former workers skipped does not count against the limit of the new ones. In
// a global order with UnevenDrop, the new workers drop again what cannot be divided evenly.
//
// States of other datasets or epochs, and too few or too many of them, are an error that unwraps to
// [ErrState].
func MergeStates(states []State) (State, error) { return stages.MergeStates(states) }
