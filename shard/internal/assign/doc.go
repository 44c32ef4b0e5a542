// Package assign decides where records go: to which target, in which order, and to which of the
// target's shards.
//
//	Chooser ──► Choose ──► TargetLog: the target of each record, two bytes each
//	Layout                            how many records each shard of a target has
//	Ordering: Unchanged, Shuffled     the new position of a record, by its number
//	          Sorted                  a key, by which records sort bytewise
//
// A target is a split of a set to be made. All decisions depend on the records, the options and a seed,
// never on the number of workers, so the same run makes the same set anywhere. They are made before the
// first record is written.
//
// The package moves no record, and does not know what verb asks.
package assign
