// Package shard is a dataset at rest: the names of its files, the manifest that describes a
// finished set, what features its records have, the files that TFDS reads, the writer that puts a
// shard in place whole or not at all, and the reader of one file.
//
// A set is in one directory:
//
//	birds-train.tfrecord-00000-of-00016            shards
//	index/birds-train.tfrecord-00000-of-00016.idx  where each record begins
//	manifest.json                                  what the set is
//	errors.jsonl                                   samples that could not be used
//	.tfrec/                                        state of the run under way
//
// The directory may be the URL of one in an object store, where files get their names create-only
// and claims that are renewed replace locks.
//
// [OpenDir] locks a directory and [Dir.Create] writes shards into it; [Dir.PutSet] completes the
// set with its manifest. [Expand] finds the files of a set, or of anything else that a path stands
// for, and refuses a set that is not complete. [Open] reads one of them:
//
//	sources, err := shard.Expand(ctx, []string{"birds"}, shard.ExpandOptions{})
//	for _, source := range sources {
//		r, err := shard.Open(ctx, source.Path, tfrecord.ReaderOptions{})
//		for record, err := range r.All() { ... }
//	}
//
// What works on whole sets has packages of its own:
//
//	shard/stats    what is in the records: inspect, stats
//	shard/verify   whether a set is intact: framing, manifest, and what is in the records
//	shard/repair   damaged files, sets without a manifest, indexes
//	shard/reshape  new sets from existing records: reshard, filter, split, append and others
//
// Training jobs read sets with package reader.
package shard
