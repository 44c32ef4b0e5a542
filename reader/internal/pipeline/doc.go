// Package pipeline runs chains of stages over blocks of records.
//
// A [Link] describes a stage and those before it; [Link.Build] opens them for a [Run]. A stage returns
// a [Block] of records at a time, with the position at which the block begins, from which a [State] is
// made. What the stages of a run share is in the Run: its options, a budget of memory, tokens for
// processors, recycled blocks, counters that the tuner reads, and the count of skipped records. The
// package knows neither files nor what stages do.
package pipeline
