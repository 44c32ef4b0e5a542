// Package shard handles datasets on disk: the names of shards, the files that a path stands for, a
// directory in which a set is written, a writer that publishes shards atomically, and a reader for
// single files. Package manifest describes what is in a set.
//
// A set is in one directory:
//
//	birds-train.tfrecord-00000-of-00016            shards
//	index/birds-train.tfrecord-00000-of-00016.idx  where each record begins
//	manifest.json                                  what the set is
//	errors.jsonl                                   samples that could not be used
//	.tfrec/                                        state of the run under way
//
// The directory may be the URL of one in an object store. Shards there are published with
// create-only requests, and claims, which a process renews, replace locks.
//
// [OpenDir] locks a directory and [Dir.Create] writes shards into it; [Dir.PutSet] completes the
// set with its manifest. [Expand] resolves paths, such as the directory of a set, to record files,
// and refuses an incomplete set. [Open] reads one of the files:
//
//	sources, err := shard.Expand(ctx, []string{"birds"}, shard.ExpandOptions{})
//	for _, source := range sources {
//		r, err := shard.Open(ctx, source.Path, tfrecord.ReaderOptions{})
//		for record, err := range r.All() { ... }
//	}
//
// Operations on whole sets have packages of their own:
//
//	shard/stats    what is in the records: inspect, stats
//	shard/verify   whether a set is intact: framing, manifest, and what is in the records
//	shard/repair   damaged files, sets without a manifest, indexes
//	shard/reshape  new sets from existing records: reshard, filter, split, append and others
//
// Training jobs read sets with package reader.
package shard
