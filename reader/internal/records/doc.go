// Package records reads the records of a set: the first stage of each pipeline.
//
// [Interleave] takes turns among files that are read ahead, each by a goroutine of its own;
// [ShuffleAll] and [Sample] read records in any order, thousands at a time, in the order of the files.
// Both return the same records and the same damage as a tfrecord.Reader of each file.
package records
