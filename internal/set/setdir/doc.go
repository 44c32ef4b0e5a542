// Package setdir implements shard.Dir: an output directory of a set, local or in an object store.
// It locks the directory, writes shards and other files atomically, stages a new version of a set
// and publishes it with a single journal, and keeps the state of the current run. It handles files
// but not the content of manifests: see package shard.
package setdir
