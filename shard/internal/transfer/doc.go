// Package transfer copies the records of inputs to the shards of new sets.
//
//	source.Inputs ──► blocks ──► Work: verified, scanned, rewritten ──► shards ──► commits
//	                                       │                              ▲
//	                                       └──► buckets, in memory or ────┘
//	                                            spilled to one file
//
// A [Transfer] is told the targets with their layouts, the log that assigns records to them, their
// order and how they are rewritten. [Transfer.Write] chooses the fastest of several ways, which give
// the same bytes with any number of workers:
//
//   - spans.go copies ranges of files, one shard a goroutine;
//   - streamed.go gives blocks through workers, in order, to the open shards of all targets;
//   - arrange.go, place.go and place_write.go distribute records to buckets, then write these in order;
//   - fetch.go reads large records one by one, in the new order.
//
// A [OneShard] takes the records of one shard in any order, for runs on many machines.
//
// Records that do not change keep their frames, whose checksums are verified and copied. Memory is
// bounded, whatever the number and size of the shards. The package writes shards and their indexes and
// nothing else: whether a set may be written, and what is left of one that fails, is not its concern.
package transfer
