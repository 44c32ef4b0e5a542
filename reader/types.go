package reader

import (
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/images"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Options configure how a set is read. The zero value reads everything, verifies everything, and
// fails on the first damaged record.
//
// Selection:
//   - Split selects a split of sets that have a manifest. Default: everything.
//   - Worker is the index of this worker out of Workers, and ShardBy and Uneven control how the set
//     is divided among them.
//   - Partial reads the existing shards of incomplete sets, and calls Note with a sentence about each.
//   - Compression of the files (default: detected), Checksum for the checksums to verify (default:
//     all), and MaxRecord for the size of a record in bytes (default: 1 GiB).
//   - SkipBad limits how much damage is skipped (default: none), and OnSkip is called for each.
//
// Order:
//   - Seed of all randomness. ShuffleFiles reads the files in a different order in each epoch.
//   - Unordered returns records as they are ready instead of waiting for a slow file.
//   - BatchWithinEpoch ends a batch at the end of a pass over the set.
//
// Resources:
//   - Parallelism is the number of goroutines that work at the same time. Default: GOMAXPROCS.
//   - Readers is the maximum number of concurrent file reads. Default: chosen.
//   - Memory limits the bytes in flight (see [MemoryStats]). Default: a quarter of the memory
//     available, at most 1 GiB.
//   - PoisonRecycled overwrites the memory of records and batches after their last use.
//   - Logger gets events such as "skipped damage", "cache built", "tuning settled" and "stream ended".
type Options = pipeline.Options

// ShardBy is the way to divide a set among workers.
//
// ShardAuto, the default, divides by file if each worker gets at least one and the parts may be
// uneven, else by record. ShardFiles assigns files i, i + workers, … to worker i. ShardRecords assigns
// each worker a run of records.
type ShardBy = pipeline.ShardBy

// Uneven is the way to handle workers that have fewer records than others.
//
// UnevenKeep, the default, leaves the parts as they are; UnevenDrop drops records of the longer parts;
// UnevenPad repeats records of the shorter ones (see [Record].Pad).
type Uneven = pipeline.Uneven

// SkipBad limits how much damage an epoch may skip before it fails. Each of these counts as one,
// against the same limit: a record with corrupt data, a stretch of broken framing, a compressed
// file that cannot be decompressed to its end, and a record that cannot be parsed or decoded, or
// for which a function of [Map], [MapData] or [Flow.Filter] returns an error. So does each record
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
//
// Count is the number of faults allowed, and Share the allowed fraction of the worker's records, 0
// to 1. The larger of both applies.
type SkipBad = pipeline.SkipBad

// Skipped describes damage that was skipped.
//
// It was in the file at Path: Record is the number of the missing record, Offset where its frame
// begins, Records how many were lost, as far as known, and Bytes how many bytes, or -1; in Epoch, for the
// cause Err.
type Skipped = pipeline.Skipped

// Record is one record as read, and its position.
//
// Data is the payload, valid until the next element is requested, and read-only. Offset is where
// its frame begins in the uncompressed stream, Number its number in the file, from 0, and File the
// index of the file in [Set.Sources]. Epoch counts the earlier passes over the set, and Pad marks a
// repeat (see [UnevenPad]).
type Record = pipeline.Record

// State is the position of a consumer: after Start with it ([From]) the next element is the one
// that follows. It is small (positions in files, never data), plain JSON, and only valid for the
// same dataset, wherever it is stored, and the same stages.
//
// Resuming costs reading one block again. After a [Flow.Shuffle] of n elements it costs reading
// about n·(ln n + 1) elements to refill the buffer; for compressed files also what precedes the
// position in each of the open ones. A [Flow.Cache] that is not complete on disk
// makes its epoch again from the beginning.
//
// Its fields are for looking at: Format and Version of the State; the Dataset ([Set.Fingerprint]), the
// Worker and the number of Workers; the Epoch, and how many elements were received (Skip) after the
// position of the Stages; Merged States of former workers; and of a flow the positions (Flow), how it is
// made (Making), and the numbers of records that were Skipped.
type State = pipeline.State

// StagePosition is the position of a stage, in numbers that the stage defines.
//
// Name is the stage's name, with its settings, and At the position, nil at the beginning.
type StagePosition = pipeline.StagePosition

// MapOptions are the options of [Map]; the zero value preserves the order.
//
//   - Workers is the number of goroutines that call the function. Default: chosen as it runs.
//   - Waits marks a function that mostly waits, as for a service: workers then need no processor.
//   - Unordered returns results as they are ready.
//   - Size returns the approximate memory of a result in bytes, which then counts as in flight.
type MapOptions = pipeline.MapOptions

// MapDataOptions are the options of [MapData]: Workers and Waits are as in [MapOptions].
type MapDataOptions = pipeline.MapDataOptions

// BatchOptions are the options of [Batch].
//
// DropRemainder drops a last batch that is smaller than the others.
type BatchOptions = flows.BatchOptions

// StageStats are the counters of a stage. Times are sums over its workers.
//
// Name is the stage's name, and Elements and Bytes count its output. Busy is the time spent
// working, WaitInput waiting for the stage before, BlockedOutput for room in the output, and
// Awaited how long later stages waited for it. Workers work at the same time; Queue elements are
// ready of QueueSize. Auto means that both numbers are tuned, with so many Changes so far.
type StageStats = pipeline.StageStats

// MemoryStats is the memory that a running pipeline has in flight: read-ahead buffers, batches in
// progress, in queues and in use by the consumer, and, if MapOptions.Size is set, the results of
// [Map] functions. A [Flow.Cache] in memory is not included: it has its own limit.
//
// In bytes: Limit is Memory of the [Options], InFlight the memory now in flight, Peak its maximum
// so far, and Held the records in the buffers of [Flow.Shuffle].
type MemoryStats = pipeline.MemoryStats

// Report is the progress of a running pipeline.
//
// Seconds since the start, up to Close; the Bottleneck, a sentence that names the slowest part and
// the setting that would help; the Processor time of this process, and how many processors Others
// kept busy, on average (0 if unknown); the Memory, and the Stages, record sources first.
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
//
// SameEachEpoch keeps the order from epoch to epoch. With a Block, runs of that many records stay near
// each other, Window of which are mixed. Default: 1, a true shuffle.
type ShuffleAllOptions = records.ShuffleAllOptions

// Sampler lists the records of each epoch, as a torch.utils.data.Sampler does.
//
// Name identifies what Records returns: the numbers of the records of an epoch, in order.
type Sampler = records.Sampler

// WeightedOptions are the options of [WeightedSampler].
//
// Records is the number of elements of an epoch (default: as many as weights above 0), Replacement
// draws each from all records, and Seed is for the draws (default: Seed of the [Options]).
type WeightedOptions = records.WeightedOptions

// SortedOptions are the options of [SortedSampler]; the zero value sorts all records.
//
// Window sorts each run of that many records of a random order; Shuffle shuffles runs after
// sorting; Seed is for both (default: Seed of the [Options]).
type SortedOptions = records.SortedOptions

// CacheOptions are the options of [Flow.Cache], where an element counts as a record of its
// bytes; the zero value caches in memory.
//
//   - Dir is a directory for the cache. Default: memory, for one run.
//   - Limit is the maximum size in bytes. Default: 1 GiB in memory, 16 GiB on disk.
//   - Partial caches as many records as fit. Default: [ErrCacheFull].
//   - Version identifies what functions before the cache do.
//   - Replace removes a cache of something else, or a damaged one; OnDiscard is called with the reason.
type CacheOptions = stages.CacheOptions

// ShuffleOptions are the options of [Flow.ShuffleWith].
//
// Buffer is the number of elements to draw from, Seed determines the order (default: Seed of the
// [Options]), and SameEachEpoch keeps it from epoch to epoch.
type ShuffleOptions = stages.ShuffleOptions

// MixOptions are the options of [Mix]; the zero value draws from all pipes with equal probability.
//
//   - Weights are proportional to the probabilities of the pipes, and Seed is for the draws.
//   - Choose returns the pipe of each element instead.
//   - StopOnEmpty ends the epoch when an element is to come from a pipe that has none left.
type MixOptions = stages.MixOptions

// ResampleOptions are the options of [Resample].
//
// Initial are the shares of the classes in the records, Target the shares wanted (default: all
// equal), and Seed is for the decisions.
type ResampleOptions = stages.ResampleOptions

// ColumnSpec configures how records become columns.
//
// Schema of the columns (default: from the manifest, or inferred from the first records), Batch for
// the number of records in a batch (default: 1), DropRemainder, which drops a smaller last batch,
// and Workers for the batches parsed concurrently (default: chosen).
type ColumnSpec = flows.ColumnSpec

// ColumnBatch is a batch of records as columns. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone.
//
// It is [columns.Columns], with the Epoch of the first record.
type ColumnBatch = flows.ColumnBatch

// Indexed is an element of [Enumerate].
//
// Index is the number of the element in its epoch, from 0, and Value the element.
type Indexed[T any] = flows.Indexed[T]

// BucketOptions are the options of [BucketByLength].
//
// Boundaries between the buckets, ascending; BatchSizes, one more than these; and DropRemainder, which
// drops the smaller batches at the end of an epoch.
type BucketOptions = flows.BucketOptions

// PadOptions are the options of [Pad]; the zero value pads with zeros to the longest sequence of each
// batch.
//
// Length pads to that many values, or Boundaries to one less than the first boundary above the longest
// sequence of a batch. Value is the padding.
type PadOptions[N int32 | int64 | float32] = flows.PadOptions[N]

// PaddedBatch is a batch of sequences of the same length. It is valid until the next batch is
// requested, which reuses its memory: keep a Clone.
//
// Shape is {sequences, length}, Values has the sequences in row-major order, each followed by
// padding, Lengths their numbers of values without it, and Epoch is the epoch of the last record.
type PaddedBatch[N int32 | int64 | float32] = flows.PaddedBatch[N]

// PackOptions are the options of [Pack].
//
//   - Length is the number of tokens in a row, and Batch the number of rows in a batch. Default: 1.
//   - OpenRows is the number of rows filled at the same time. Default: 64.
//   - Split divides longer sequences, and Truncate keeps their first Length tokens. Default: an error.
//   - Pad is the token of padding, and DropRemainder drops a smaller last batch.
type PackOptions = flows.PackOptions

// PackedBatch is a batch of rows with several sequences each. It is valid until the next batch is
// requested, which reuses its memory: keep a Clone. Tokens, Segments and Positions are tensors of
// Shape in row-major order, which tensor libraries take without a copy.
//
// Segments has for each token the number of its sequence in the row, from 1, and Positions its
// index in the sequence, from 0; both are 0 for padding. Filled is the number of tokens that are
// not padding, and Epoch the epoch of the first sequence.
type PackedBatch[N int32 | int64] = flows.PackedBatch[N]

// ResizeOptions are the options of [ResizeImages].
//
//   - Resize is the size of the images in the records. Required.
//   - ImageKey is the feature with the encoded image. Default: [DefaultImageKey].
//   - Quality of the JPEGs, 1 to 100. Default: 95.
//   - Codec decodes and encodes. Default: [augment.NewCodec] without options.
//   - Workers is the number of goroutines. Default: chosen as it runs.
type ResizeOptions = images.ResizeOptions

// ImageSpec configures how records become batches of images.
//
// The tensor:
//   - Size, or Resize, is the size of all images; Channels are 1 or 3 (default: 3).
//   - DType is the type of the samples; all but Uint8 are divided by 255 and then normalised by Normalize.
//   - NCHW puts the channels first. Batch is the number of records (default: 1), and DropRemainder drops
//     a smaller last batch.
//   - Steps and Frames are for records of several frames, and OtherImageKeys for records of several
//     images.
//
// Features:
//   - ImageKey and LabelKey are the features with the image and the label; NoLabels leaves labels out.
//   - MaskKey is the feature with a mask, and MaskFill the class of its padding.
//   - Objects are the boxes on the images, and Columns further features.
//
// Processing:
//   - Policy draws augmentations; Mix mixes the images of a batch, with soft labels of Classes.
//   - Codec decodes, ExactPixels at full size, and Check verifies what Convert verified before.
//   - Workers is the number of goroutines (default: chosen), and Backend does the arithmetic, for
//     example on a GPU.
type ImageSpec = images.ImageSpec

// ImageBatch is a batch of images as one tensor. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone. If ImageSpec.Backend is an [augment.HostAllocator], the
// samples are in its memory, unless the Frames are [columns.Longest]. It is freed when the [Stream]
// is closed: a copy to a device that does not wait must have ended before the next batch is
// requested, and before Close.
//
// Shape is the shape of the samples, which are in Pixels, Bytes or Halves depending on DType.
// Masks, Lengths (of clips), Labels, SoftLabels, Objects and Columns are present if the [ImageSpec]
// selects them. Mix describes how the images were mixed, Epoch is the epoch of the first record,
// and Decoders names the decoder of each image if the backend decoded it.
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

// WeightedSampler draws records with probabilities proportional to their weights: weights[i] is the
// weight of record i, 0 or more, and there is one for each record of the whole set. To draw classes
// equally often, give each record 1 / the number of records of its class, with Replacement; the
// [Set.Records] of a set opened without Workers are in the order of the weights. The weights are
// not changed, and must not be while the sampler is in use.
//
// It is torch.utils.data.WeightedRandomSampler. With replacement it uses the alias method (Vose: A
// Linear Algorithm for Generating Random Numbers with a Given Distribution, 1991), with 16 bytes of
// memory for each weight and 8 for each element of an epoch; without, exponential keys (Efraimidis,
// Spirakis: Weighted Random Sampling with a Reservoir, 2006), with 24 bytes for each weight, which
// are sorted at the beginning of each epoch.
func WeightedSampler(weights []float64, o WeightedOptions) Sampler {
	return records.WeightedSampler(weights, o)
}

// SortedSampler orders records by ascending key. keys[i] is the key of record i, such as its
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
// Damage skipped by the former workers does not count against the limit of the new ones. In a
// global order with UnevenDrop, the new workers drop again what cannot be divided evenly.
//
// States of other datasets or epochs, and too few or too many of them, are an error that unwraps to
// [ErrState].
func MergeStates(states []State) (State, error) { return stages.MergeStates(states) }
