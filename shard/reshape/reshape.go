package reshape

import (
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options are the options common to all functions that make a new set from existing records:
// Reshard, Merge, Sample, Take and the others. The zero value has the defaults of the command.
type Options struct {
	// Name is the name of the dataset, the first part of every shard's name. Default: the name that
	// all inputs share, else the base name of OUT in snake case.
	Name string
	// Shards is the number of shards in each split. Default: derived from ShardSize or
	// RecordsPerShard, or else about 128 MiB per shard, but at least min(16, records/64) shards.
	Shards int
	// SplitShards is the number of shards by split, if Shards is 0. Splits that are not in it get
	// the default number.
	SplitShards map[string]int
	// ShardSize is the approximate size of a shard in bytes. Default: see Shards.
	ShardSize int64
	// RecordsPerShard is the number of records in each shard of a split but the last. Default: see
	// Shards.
	RecordsPerShard int64
	// Compression is the compression of the shards, independent of the inputs. Default: none.
	Compression tfrecord.Compression
	// Seed determines all random choices.
	Seed uint64
	// Memory bounds the memory of sorting and shuffling, in bytes; beyond it, disk space in OUT is
	// used, or in the system's temporary directory if OUT is in an object store. In that case each
	// open shard, of which there are up to 16 or Workers, takes another 8 MiB, and uploads in
	// progress up to 128 MiB. A record larger than Memory is held once in addition. Minimum: 1 MB.
	// Default: 256 MiB.
	Memory int64
	// Workers is the number of goroutines that check and scan records. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64

	// Overwrite makes the set again if the directory already holds one, whatever its inputs and
	// options, and removes the old set's files, as listed in its manifest, once the new set is
	// complete. Default: an identical set is up to date, and a different one is an error. Overwrite
	// is an error in an object store, where a set cannot be replaced atomically.
	Overwrite bool

	// Union allows inputs without a common schema: a feature that each record of one input has may be
	// missing in another. Default: an error.
	Union bool

	// Partial reads the existing shards of input sets that are incomplete (see
	// [shard.ExpandOptions]).
	Partial bool

	// Args are the arguments of the tfrec command, if this is one. They are recorded, and shown to
	// anyone who finds the set incomplete (see [shard.IncompleteError]).
	Args []string
	// Progress, if not nil, is updated during the run.
	Progress *source.Progress
	// Note, if not nil, is called with a human-readable sentence about each choice made
	// automatically, from one goroutine at a time.
	Note func(sentence string)
	// Warn is called with a sentence about each input that is incomplete and used because of
	// Partial. Default: Note.
	Warn func(sentence string)

	// See setLimits.
	maxOpen  int   // default: maxOpenShards
	partSize int64 // default: defaultPart
}

// Report is the result of a run.
type Report struct {
	// Status is "written", or "up_to_date" if an earlier run made the set from the same inputs with
	// the same options; all other fields are then from that run.
	Status string `json:"status"`
	// RecordsIn is the number of records in the inputs, Records the number in the new set.
	RecordsIn int64 `json:"records_in"`
	Records   int64 `json:"records"`
	// Bytes is the total size of all shards.
	Bytes   int64                         `json:"bytes"`
	Seconds float64                       `json:"seconds"`
	Shards  int                           `json:"shards"`
	Splits  map[string]shard.SplitSummary `json:"splits"`
	// Groups is the number of records in each of the sets made by ReshardOptions.GroupBy, by
	// directory.
	Groups map[string]int64 `json:"groups,omitempty"`
	// LabelsRemapped is set if the inputs' lists of label names differed, so that the ids in the
	// records were changed to match the new list.
	LabelsRemapped bool `json:"labels_remapped,omitempty"`
	// Notes are the sentences passed to Options.Note.
	Notes []string `json:"notes,omitempty"`
}

// Common returns r. On a report that embeds a Report it returns the part that all reports
// have in common.
func (r *Report) Common() *Report { return r }
