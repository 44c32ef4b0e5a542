// Package arrows checks the directions in which the rooms of this module may import each other, and
// the other modules that they may bring into a program.
//
//	cmd ──► everything
//	reader ──► shard, tfrecord, augment
//	convert ──► shard, tfrecord, augment
//	gpu ──► augment, render, lower
//	augment ──► policy, operation ──► steps
//	lower ──► render ──► steps ──► fit, warp, workspace ──► resample, imagefile ──► bitmap
//	shard/stats ──► shard, tfrecord
//	shard ──► tfrecord
//	tfrecord ──► nothing of ours
//	tests ──► also internal/dev
//
// It also bounds the number of names that each public package exports.
//
// The package has only tests. They read the output of `go list` for every operating system and
// build tag that changes the imports.
//
//	go test ./internal/dev/arrows/
package arrows
