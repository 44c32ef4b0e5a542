package reader

import "github.com/tfrec/tfrec/reader/internal/flows"

// Batch describes slices of n elements of a flow. Nothing is copied: batches of records are as fast as
// records, and valid until the next batch is requested.
func Batch[T any](f Flow[T], n int, o BatchOptions) Flow[[]T] {
	if f.isPipe() {
		return with(f, as[flows.Flow[[]T]](flows.RecordBatches(f.pipe(), n, o)))
	}
	return with(f, flows.Batch(f.make, n, o))
}

// Unbatch describes the elements of a flow of slices, one by one. A State is the one before the
// slice of its element, with the number of the slice's elements up to there: resuming makes the slice
// again.
func Unbatch[T any](f Flow[[]T]) Flow[T] { return with(f, flows.Unbatch(f.make)) }

// BucketByLength describes batches of elements of similar length, so that little is wasted when
// they are padded to the longest: tf.data's Dataset.bucket_by_sequence_length, in the same order. A
// batch is returned when its bucket is full. At the end of the epoch the rest of each bucket
// follows, from the shortest elements to the longest. Length returns the length of an element; one
// goroutine at a time calls it.
//
// The elements of a batch stay valid as long as the batch. Buckets keep their elements, with the
// blocks of records that these alias, in memory: fewer elements than the sum of the BatchSizes.
//
// A [State] has no elements. To resume, the stages before make again what followed the oldest
// element that was waiting in a bucket: if a bucket fills slowly, that may be much of the epoch.
func BucketByLength[T any](f Flow[T], length func(T) int, o BucketOptions) Flow[[]T] {
	return with(f, flows.BucketByLength(f.elements(), length, o))
}

// Pad describes batches of sequences as tensors: each batch of [BucketByLength] or [Batch] with its
// sequences padded to the same length. With the Boundaries of the buckets it is tf.data's
// bucket_by_sequence_length with pad_to_bucket_boundary. A sequence that is too long ends the flow with
// an error.
func Pad[N int32 | int64 | float32](f Flow[[][]N], o PadOptions[N]) Flow[*PaddedBatch[N]] {
	return with(f, flows.Pad(f.make, o))
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
	return with(f, flows.Pack(f.make, o))
}
