// Package pipeline runs chains of stages over blocks of records.
//
// A [Link] describes a stage and those before it; [Link.Build] opens them for a [Run]. A stage
// returns a [Block] of records at a time, with the position at which the block begins, which a
// [State] records. The stages of a run share its Run, which has the options, a budget of memory,
// tokens for processors, recycled blocks, counters that the tuner reads, and the count of skipped
// records. The package is independent of files and of particular stages.
package pipeline
