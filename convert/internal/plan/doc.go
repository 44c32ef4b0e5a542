// Package plan makes sets of samples of any kind: it assigns samples to splits and shards, compares
// the plan with the set that an earlier run left, and makes the shards that are missing or out of date.
//
// A [Source] is an [Input] that was planned. For each [Shard] it yields functions that fill a [Piece],
// a part of the shard, each from bytes of the input alone, so that pieces may be made in any order and
// by any number of goroutines. A run hands them in order to the goroutine of their shard. Nothing here
// depends on the kind of sample.
//
// [Run] does this for one process, [Begin] and [Join] for several that request shards by number, and a
// run with Options.Task for the tasks of an array job, whose shards [Finalize] turns into a set.
package plan
