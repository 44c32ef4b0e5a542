package reader

import (
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/images"
)

// Map describes the elements that f makes of the records of a pipe, in the order of the records by
// default. Several goroutines call f; its result may alias the record, whose data stay valid as
// long as the element. An error of f ends the flow with the record's file, number and offset,
// unless [SkipBad] allows skipping the record.
func Map[T any](p Pipe, f func(Record) (T, error), o MapOptions) Flow[T] {
	if f == nil {
		return MapWith[T](p, nil, o)
	}
	return MapWith(p, func() func(Record) (T, error) { return f }, o)
}

// MapWith is [Map] with a function for each worker, which one goroutine at a time calls: the place
// for parsers and buffers that cannot be shared. What the function keeps from one record to the
// next must not show in its results: which records it gets differs from run to run. Several
// goroutines call newWorker, as often as there may be workers (see [MapOptions]).
//
//	reader.MapWith(pipe, func() func(reader.Record) (int64, error) {
//		var example tfrecord.Example // reused
//		return func(r reader.Record) (int64, error) {
//			if err := example.Parse(r.Data); err != nil {
//				return 0, err
//			}
//			...
//		}
//	}, reader.MapOptions{})
func MapWith[T any](p Pipe, newWorker func() func(Record) (T, error), o MapOptions) Flow[T] {
	return Flow[T]{flows.MapRecords(p.chain(), newWorker, o)}
}

// MapFlow describes the elements that into makes of the elements of a flow, in the same order.
// Several goroutines call into; its result may alias the element, which stays valid as long. An
// error of into ends the flow with the location of the last record of the element. The Unordered
// option is refused.
func MapFlow[T, U any](f Flow[T], into func(T) (U, error), o MapOptions) Flow[U] {
	return Flow[U]{flows.Map(f.open, into, o)}
}

// Filter describes the elements for which keep returns true. An error of keep ends the flow, as in
// [MapFlow]. A State is the one after the last element returned: dropped elements after it are
// checked again.
func (f Flow[T]) Filter(keep func(T) (bool, error)) Flow[T] {
	return Flow[T]{flows.Filter(f.open, keep)}
}

// Take describes the first n elements of each epoch, like [Pipe.Take] those of records.
func (f Flow[T]) Take(n int64) Flow[T] { return Flow[T]{flows.Take(f.open, n)} }

// Skip drops the first n elements of each epoch, like [Pipe.Skip] records. They are made, and
// dropped: to skip records before expensive work, skip them in the pipe.
func (f Flow[T]) Skip(n int64) Flow[T] { return Flow[T]{flows.Skip(f.open, n)} }

// Enumerate describes the elements of a flow with their numbers in the epoch, like tf.data's
// Dataset.enumerate. After Resume the numbers continue.
func Enumerate[T any](f Flow[T]) Flow[Indexed[T]] { return Flow[Indexed[T]]{flows.Enumerate(f.open)} }

// Cache computes the elements of an epoch once and keeps them: batches with their decoded images or
// parsed columns, or the results of a [Map]. Once it has returned all, later epochs (see
// [Stream.NextEpoch]) come from the cache, and nothing before it is read, decoded or computed. It
// is tf.data's ds.map(decode).batch().cache(). [CacheOptions] are as for [Pipe.Cache], except that
// Partial is refused.
//
// All epochs have the elements of epoch 0 in the same order: batches of the same records, and for
// each image the same draws of [ImageSpec].Policy and Mix. For other draws in each epoch, cache
// before they are made: records with small images by [Pipe.Map] and [Pipe.Cache], then a Shuffle
// and [Images]. The Epoch of records and batches is that of the epoch in which they are returned. A
// [Pipe.Repeat] before the cache repeats within the epoch, and all passes are kept.
//
// In memory and on disk, elements are kept as bytes, and each one returned is a copy, also in the
// first epoch. Elements are numbers, bools, strings, and slices, arrays, structs and pointers of
// these, which includes all batches of this package; structs have exported fields only. Other types
// need the methods MarshalBinary and UnmarshalBinary of package encoding, or are refused at Start; a
// struct that embeds a type with these methods has them, too, and should define its own.
// Batches reuse their memory as they do without a cache; other elements are new each time.
//
// On disk, a cache is of the dataset, the stages, the type of the elements, and the settings of
// [Images], [ParseColumns] and other stages before it, including the decoder of images: with any
// other it is refused with [ErrOtherCache]. Only functions are not known: [CacheOptions].Version
// identifies what they do. Copying from disk takes time: a Prefetch after the cache works ahead.
//
// A [State] counts the elements of the epoch that were received, so that it is exact, and resuming
// is as with [Pipe.Cache]. [MergeStates] refuses it: each worker has elements of its own.
func (f Flow[T]) Cache(o CacheOptions) Flow[T] { return Flow[T]{flows.Cache(f.open, o)} }

// Prefetch describes the same elements, with up to n made before they are requested, in addition to
// what workers have in hand. With 0 the number is chosen and adjusted as the pipeline runs. The
// memory limit of the [Options] applies in any case.
func (f Flow[T]) Prefetch(n int) Flow[T] { return Flow[T]{flows.Prefetch(f.open, n)} }

// BatchFlow describes slices of n elements of a flow. The last one may be shorter, unless
// dropRemainder drops it.
func BatchFlow[T any](f Flow[T], n int, dropRemainder bool) Flow[[]T] {
	return Flow[[]T]{flows.Batch(f.open, n, dropRemainder)}
}

// UnbatchFlow describes the elements of a flow of slices, one by one. A State is the one before the
// slice of its element, with the number of the slice's elements up to there: Resume makes the slice
// again.
func UnbatchFlow[T any](f Flow[[]T]) Flow[T] { return Flow[T]{flows.Unbatch(f.open)} }

// BucketByLength describes batches of elements of similar length, so that little is wasted when
// they are padded to the longest: tf.data's Dataset.bucket_by_sequence_length, in the same order. A
// batch is returned when its bucket is full. At the end of the epoch the rest of each bucket
// follows, those of the shortest elements first. Length returns the length of an element; one
// goroutine at a time calls it.
//
// The elements of a batch stay valid as long as the batch. Buckets keep their elements, with the
// blocks of records that these alias, in memory: fewer elements than the sum of the BatchSizes.
//
// A [State] has no elements. To resume, the stages before make again what followed the oldest
// element that was waiting in a bucket: if a bucket fills slowly, that may be much of the epoch.
func BucketByLength[T any](f Flow[T], length func(T) int, o BucketOptions) Flow[[]T] {
	return Flow[[]T]{flows.BucketByLength(f.open, length, o)}
}

// Pack describes rows of Length tokens, each filled with several sequences of a flow, so that
// little of a batch is padding. A sequence goes into the first of the open rows that has room; if
// none has, and OpenRows are open, the oldest of them is closed for a new one. A full row is closed
// at once. Batches have the rows in the order in which they were closed; at the end of an epoch all
// are. Empty sequences are left out. This is the bounded-space online bin packing known as
// Next-k-Fit (Johnson 1974): first fit over k rows. Segments and Positions are as in T5 and Mesh
// TensorFlow: a model attends only within a segment.
//
// A [State] has no tokens. To resume, the stages before make again what followed the oldest
// sequence in a row that was not returned: about as much as fits in OpenRows and Batch rows.
func Pack[N int32 | int64](f Flow[[]N], o PackOptions) Flow[*PackedBatch[N]] {
	return Flow[*PackedBatch[N]]{flows.Pack(f.open, o)}
}

// Zip describes the elements that f makes of the next record of each pipe: images of one set with
// the labels of another, or two views of the same. It is tf.data.Dataset.zip, and ends with the
// pipe that ends first. f gets one record of each pipe, in their order; its result may alias their
// data, which stay valid as long as the element. Several goroutines call f. An error of f ends the
// flow with the location of the last of the records.
//
// A [State] covers all pipes. What [Mix] says of options, of [Record.File] and of memory holds here,
// too. Whatever would pair a record with the wrong partner is an error: SkipBad, Unordered, a State
// of [MergeStates], and several workers, who would not get the same places of different sets.
func Zip[T any](f func([]Record) (T, error), pipes ...Pipe) Flow[T] {
	return Flow[T]{flows.Zip(f, chains(pipes))}
}

// ParseColumns describes batches of records as columns, parsed in advance and in order. Fields with
// [columns.Steps] make columns of sequences; [Pipe.Windows] cuts these into windows. A record
// that does not match the schema ends the flow with an error that names its file, number, offset
// and feature, unless [SkipBad] allows skipping it.
func ParseColumns(p Pipe, spec ColumnSpec) Flow[*ColumnBatch] {
	return Flow[*ColumnBatch]{flows.Columns(p.chain(), spec)}
}

// Images describes batches of images, decoded in advance and in order, each directly into its row
// of the tensor. An image that cannot be decoded ends the flow with the record's file, number and
// offset, and the number of the frame in a clip, unless [SkipBad] allows skipping the record.
func Images(p Pipe, spec ImageSpec) Flow[*ImageBatch] {
	return Flow[*ImageBatch]{images.Batches(p.chain(), spec)}
}

// Pad describes batches of sequences as tensors: each batch of [BucketByLength] or [BatchFlow] with its
// sequences padded to the same length. With the Boundaries of the buckets it is tf.data's
// bucket_by_sequence_length with pad_to_bucket_boundary. A sequence that is too long ends the flow with
// an error.
func Pad[N int32 | int64 | float32](f Flow[[][]N], o PadOptions[N]) Flow[*PaddedBatch[N]] {
	return Flow[*PaddedBatch[N]]{flows.Pad(f.open, o)}
}
