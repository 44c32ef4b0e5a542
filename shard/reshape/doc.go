// Package reshape makes new sets from existing records:
//
//	Reshard, Merge      other shards, another order, several sets in one
//	Resplit             other splits
//	Filter, Dedupe      without some of the records
//	Sample, Take        a part of the records
//	SelectFeatures, DropFeatures, RenameFeatures
//	Append              more records in an existing set
//
// and compares the records of two sets ([Diff]). The inputs are files or sets of any origin; the
// output is a set with a manifest, indexes and TFDS's files, and appears completely or not at all.
// The same inputs and options produce the same bytes with any number of workers, and an interrupted
// run resumes:
//
//	o := reshape.ReshardOptions{Shuffle: true}
//	o.Shards = 64
//	report, err := reshape.Reshard(ctx, []string{"birds", "more-birds"}, "all-birds", o)
//
// [PlanReshard] is for engines with their own scheduling: it divides a reshard into parts and
// shards that any process can handle.
package reshape
