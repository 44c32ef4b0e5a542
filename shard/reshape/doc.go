// Package reshape makes new sets from existing records:
//
//	Reshard, Merge      other shards, another order, several sets in one
//	Resplit             other splits
//	Filter, Dedupe      without some of the records
//	Sample, Take        a part of the records
//	SelectFeatures, DropFeatures, RenameFeatures
//	Append              more records in an existing set
//
// The inputs are files or sets of any origin; the output is a set with a manifest, indexes and TFDS's
// files, and appears completely or not at all. The same inputs and options produce the same bytes with
// any number of workers, and an interrupted run resumes:
//
//	o := reshape.ReshardOptions{Shuffle: true}
//	o.Shards = 64
//	report, err := reshape.Reshard(ctx, []string{"birds", "more-birds"}, "all-birds", o)
//
// An option that is the key of a feature may be what follows the last slash of one key alone, such as
// label for image/class/label. It is an error if no record has the feature.
//
// [PlanReshard] is for engines with their own scheduling: it divides a reshard into parts and
// shards that any process can handle. Package shard/diff compares the records of two sets.
//
// # Rooms
//
// A file here is a verb: its options, and what it chooses. Packages below shard/internal do the work;
// each imports only those below it:
//
//	reshape         verbs: which records stay, in which splits, in which order; how they change
//	   ├──► distribute  a run as parts and shards, for many machines
//	   ▼
//	rearrange       a run: inputs surveyed, shards planned, finished or undone; is it done already?
//	   ▼
//	transfer        records to shards: copied, streamed, put in order in buckets, read one by one
//	   ▼
//	assign          where a record goes: choosers, shuffles, sorts, layouts of shards
//	   ▼
//	source          inputs, blocks, records; what manifests state; one list of labels
//	   ▼
//	splice          features of encoded Examples changed in place
//
// A verb is a rearrange.Verb, a value with functions; no room below knows which verbs there are.
// Options and Report are declared in rearrange, with a comment for each field: see go doc -all of
// shard/internal/rearrange, and of shard/internal/distribute for [ReshardPlan].
package reshape
