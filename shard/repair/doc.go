// Package repair saves records from damaged files, and completes sets that other programs wrote.
//
//	Copy     copies the intact records of damaged files or sets
//	InPlace  replaces damaged files by their intact records
//	Adopt    writes manifest, indexes and TFDS's files for shards without them; renames shards
//	Index    writes or checks the indexes of files
//
// What could not be saved is in a quarantine file, with its location: see [ReadQuarantine].
package repair
