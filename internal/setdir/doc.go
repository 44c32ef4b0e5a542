// Package setdir is the engine under shard.Dir: a directory that a set is written into, local or
// in an object store. It locks the directory, writes shards and other files whole or not at all,
// stages a new version of a set and puts it in place with one journal, and keeps the state of the
// run that is under way. It knows where files are and not what a manifest says: see package shard.
package setdir
