// Package repair saves records from damaged files, and completes sets that other programs wrote.
//
//	Repair  copies the intact records of damaged files or sets, or repairs a set in place
//	Adopt   writes manifest, indexes and TFDS's files for shards without them; renames shards
//	Index   writes or checks the indexes of files
//
// What Repair could not save is in a quarantine file, with its location: see [ReadQuarantine].
package repair
