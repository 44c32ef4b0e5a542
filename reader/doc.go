// Package reader will stream datasets into Go training jobs: tf.data's
// interleave, shuffle, map, batch, cache, prefetch, repeat and shard over
// TFRecord files, parsing into columns and decoding into tensors.
//
// Nothing lives here yet. To read records today, use package tfrecord.
package reader
