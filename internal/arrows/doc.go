// Package arrows holds the rooms of this module to the directions in which
// they may import each other, and to the modules of others that they may bring
// into a program that uses them.
//
//	cmd ──► everything
//	reader ──► shard, tfrecord, augment
//	convert ──► shard, tfrecord, augment
//	gpu ──► augment
//	shard/stats ──► shard, tfrecord
//	shard ──► tfrecord
//	augment, tfrecord ──► nothing of ours but, for augment, internal
//
// It also bounds how many names each public package exports.
//
// It has no code of its own: its test reads what `go list` says, for every
// operating system and build tag that changes what is imported.
//
//	go test ./internal/arrows/
package arrows
