// Package own converts samples that a Go program lists and makes, instead of files that this module
// knows: rows of a database, objects of a queue, frames of a video.
//
//	Source.List ─► plan: split, shard, place of each key ─► fingerprints ─► shards to make
//	                                                                          │
//	Source.Make ◄── one sample after another, from several goroutines ◄───────┘
//	     └─► Example ─► checked against the stated features ─► piece ─► shard
//
// A run knows the key, the version and the size of a sample before it is made. So listing must be
// cheap, and Make is called only for the samples of shards that are not up to date. A record is
// never written that contradicts the stated features.
//
// Read source.go first, then make.go.
package own
