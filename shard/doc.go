// Package shard is a dataset at rest: the names of its files, the manifest
// that describes a finished set, the state of a run under way, the writer that
// puts a shard in place whole or not at all, and the checks that hold a set to
// its manifest.
//
// A set lies in one directory:
//
//	birds-train.tfrecord-00000-of-00016            shards
//	index/birds-train.tfrecord-00000-of-00016.idx  where each record begins
//	manifest.json                                  what the set is
//	errors.jsonl                                   samples that could not be used
//	.tfrec/                                        state
//
// The directory may be the URL of one in an object store, where files get their names
// create-only and claims that are renewed stand for locks; see Dir.
//
// Writing one shard by hand:
//
//	dir, err := shard.OpenDir(ctx, "out", shard.DirOptions{}) // locks it
//	defer dir.Close()
//	w, err := dir.Create("birds-train.tfrecord-00000-of-00001", shard.WriterOptions{})
//	for _, record := range records {
//		err = w.WriteRecord(record)
//	}
//	info, err := w.Commit()                                   // synced, indexed, renamed
//
// Checking a set:
//
//	report, err := shard.Verify(ctx, []string{"out"}, shard.VerifyOptions{})
//	for _, fault := range report.Faults { ... }
//
// Shards of others, and broken ones:
//
//	shard.Adopt(ctx, "theirs", shard.AdoptOptions{})                    // manifest, indexes, TFDS's files
//	shard.Repair(ctx, "broken.tfrecord", "saved.tfrecord", shard.RepairOptions{})
//	shard.Index(ctx, []string{"theirs"}, shard.IndexOptions{Check: true})
//	shard.Diff(ctx, "old", "new", shard.DiffOptions{Unordered: true})
package shard
