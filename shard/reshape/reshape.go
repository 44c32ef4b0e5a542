package reshape

import (
	"context"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/digest"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// ReshapeOptions are what all functions that make a new set of records at rest
// have in common: Reshard, Merge, Sample, Take and the others. The zero value
// is what the command does without flags.
type ReshapeOptions struct {
	// Name of the dataset, the first part of every shard's name. Default: the
	// name that all inputs share, else OUT's base name in snake case.
	Name string
	// Shards in each split. Default: by ShardSize or RecordsPerShard, and
	// without those about 128 MiB a shard, but at least min(16, records/64).
	Shards int
	// SplitShards are how many shards splits have, by name, where Shards is 0. For splits
	// that it does not name the number is chosen.
	SplitShards map[string]int
	// ShardSize is about how many bytes a shard has. Default: see Shards.
	ShardSize int64
	// RecordsPerShard is how many records each shard but the last of a split
	// has. Default: see Shards.
	RecordsPerShard int64
	// Compression of the shards, whatever the inputs' is. Default: none.
	Compression tfrecord.Compression
	// Seed of every random choice.
	Seed uint64
	// Memory bounds what sorting and shuffling hold, in bytes; beyond it, disk space in OUT is
	// used, or in the system's directory for temporary files when OUT is in an object store. There,
	// each open shard takes 8 MiB more, of which there are up to 16 or Workers, and what is on its
	// way up to 128 MiB. At least 1 MB. Default: 256 MiB. A record that is larger is held once
	// beside that.
	Memory int64
	// Workers is how many goroutines check and look at records. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64

	// Overwrite makes the set again when one is in the directory, whatever it was made
	// of, and takes away the old one's files, as its manifest names them, when the
	// new one is whole. Default: the same set as before is up to date, and others
	// are refused. In an object store, where that cannot be done whole or not at all,
	// it is refused itself.
	Overwrite bool

	// Partial takes what is there of inputs that are sets and not whole (see
	// [ExpandOptions]).
	Partial bool

	// Args are the arguments of the tfrec command that runs, if one does. They are recorded,
	// and shown to whoever finds the set incomplete (see [IncompleteError]).
	Args []string
	// Progress is counted up while the run goes on, if it is not nil.
	Progress *ReshapeProgress
	// Note is called with a sentence for people about a choice that was made
	// for them, from one goroutine at a time, if it is not nil.
	Note func(sentence string)
	// Warn is called with a sentence about each input that Partial takes in part.
	// Default: Note.
	Warn func(sentence string)
}

// ReshapeProgress counts what a run has done so far. Its fields may be read
// while the run goes on.
type ReshapeProgress struct {
	// Planned is how many records will go through; 0 while they are counted.
	// A run that reads its input twice plans each record twice.
	Planned atomic.Int64
	Done    atomic.Int64 // of them
	Bytes   atomic.Int64 // of the records done, with framing
}

// ReshapeReport says what a run did.
type ReshapeReport struct {
	// Status is "written", or "up_to_date" when an earlier run had made the set
	// of the same inputs with the same options; all else is of that run then.
	Status string `json:"status"`
	// RecordsIn is how many records the inputs hold, Records how many the new
	// set does.
	RecordsIn int64 `json:"records_in"`
	Records   int64 `json:"records"`
	// Bytes of all shards.
	Bytes   int64                         `json:"bytes"`
	Seconds float64                       `json:"seconds"`
	Shards  int                           `json:"shards"`
	Splits  map[string]shard.SplitSummary `json:"splits"`
	// Groups are how many records each of the sets has that ReshardOptions.GroupBy
	// makes, by directory.
	Groups map[string]int64 `json:"groups,omitempty"`
	// LabelsRemapped says that the inputs' lists of label names differed, and
	// the ids in the records were changed to those of the new list.
	LabelsRemapped bool `json:"labels_remapped,omitempty"`
	// Notes are what was said to ReshapeOptions.Note.
	Notes []string `json:"notes,omitempty"`
}

// Common returns what the reports of all verbs have in common: of a report that
// embeds a ReshapeReport, that.
func (r *ReshapeReport) Common() *ReshapeReport { return r }

// verb is what tells one way of reshaping from another. The zero verb with a
// name copies all records in their order.
type verb struct {
	// name as the command has it: "filter".
	name string
	// options are the verb's own effective ones by flag name, for the manifest.
	options map[string]any
	// splits of the new set; nil keeps those of the inputs.
	splits []string
	// chooser says which records go on; nil lets all go on, in their splits.
	chooser chooser
	// order of the records in each split; nil is that of the inputs.
	order ordering
	// groups, when not nil, are the directories of sets in OUT; the splits of each
	// are targets of their own: target = group*splits + split.
	groups []string
	// rewrite changes records that go on; nil leaves them as they are.
	rewrite rewriter
	// prepare is called when the inputs are known and counted and dir, the output
	// directory, is locked and empty, before the records are read. It may change the
	// verb, and be nil.
	prepare func(ctx context.Context, in *inputs, dir *setdir.Dir) error
	// advice is a sentence to note about the inputs, as they were told by their
	// manifests; none where it is empty. It may be nil.
	advice func(in *inputs) string
	// describe has the last word on the manifest, whose features are those of the
	// records before rewrite. It may be nil.
	describe func(m *shard.Manifest) error
	// unknown says that a function of the caller's has a part in what comes of the
	// run, so that no other can be known to be the same.
	unknown bool
}

// chooser says what becomes of each record.
//
// All records of the input go through it once, before the first is written.
type chooser interface {
	// look sees a record and returns what choose has to know of it. Many
	// goroutines call it at a time, in no order.
	look(r *record) (digest.Hash, error)
	// choose says where the next record goes. It is called in order: n counts
	// from 0 to the last record of all inputs. split is the one that it comes
	// from, of those of the input; the result is one of verb.splits, or of the
	// input's when that is nil, or drop.
	choose(n int64, split int, m digest.Hash) (target int, err error)
}

// numberChooser is a chooser that goes by the records' numbers alone: its look
// is never called, and the records are not read to choose.
type numberChooser interface {
	chooser
	// begin is called with the number of all records before the first choose.
	begin(total int64) error
}

// drop is the target of a record that does not go on.
const drop = -1

// maxTargets is how many splits a verb may make, groups aside.
const maxTargets = 250

// rewriter appends to dst what becomes of a record's payload. Many goroutines
// call it at a time. It must not keep or change r.data.
type rewriter func(dst []byte, r *record) ([]byte, error)

// record is one record of the input, for as long as the call that it is given to.
type record struct {
	// data is the payload. It must not be changed.
	data []byte
	// number among all records of the input, from 0.
	number int64
	// split that it comes from, of the input's.
	split int

	file    *input
	inFile  int64 // number in the file
	offset  int64 // of its frame, uncompressed
	parsed  bool  // message and err are those of data
	err     error
	message tfrecord.Example
}

// example parses the record, once. Its features alias the record's data.
// The error says file, record and offset, and is a [*DamagedError].
func (r *record) example() (*tfrecord.Example, error) {
	r.parse()
	if r.err != nil {
		return nil, &shard.DamagedError{Err: r.locate(r.err)}
	}
	return &r.message, nil
}

func (r *record) parse() {
	if !r.parsed {
		r.err = r.message.Parse(r.data)
		r.parsed = true
	}
}
