package plan

import (
	"context"
	"iter"
	"time"

	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// Input is a source of samples before planning. Each kind has its own package; runs, plans, array
// jobs and updates only know Input and Source.
type Input interface {
	// Shared returns the options common to all kinds of input; Scan fills in their defaults.
	Shared() *Options
	// Scan checks the options, fills in defaults, and reads from the input what Plan needs. The
	// output directory out is not part of the input.
	Scan(ctx context.Context, out string) error
	// Plan assigns the input to shards, with regard to the results of an earlier run.
	Plan(ctx context.Context, before *Previous) (Source, error)
	// Close releases what Scan and Plan hold.
	Close()
}

// Source is a planned input as seen by a run. Shards are numbered in the order of the manifest.
type Source interface {
	// Layout returns the parts of the plan that the run needs.
	Layout() Layout
	// Attach is called once, before all of the following, with the directory of the set.
	Attach(dir *setdir.Dir)
	// Place is the location of the inputs on this machine.
	Place() string
	// Remember saves the results of planning for the next run. It is called once the run is certain
	// to be carried out, and again when its shards are made.
	Remember()
	// Keys returns the keys of a shard's samples, in order, nil if there are too many to keep.
	Keys(shard int) []string
	// Files yields the paths of everything the set is made from, as the caller named it: files, and
	// directories whose entries matter.
	Files() iter.Seq[string]
	// Outline returns the planned identity of a shard's samples, in a form that is the same on every
	// machine.
	Outline(shard int) []byte
	// Recall returns the receiver of the inputs that are recorded for these shards; nil if they are
	// not needed.
	Recall(shards []int) *setdir.Recall
	// Known returns the identity of all of a shard's samples, in order, as in its pieces if it has these
	// ledger entries, and the entries as they are now if the identity matches. It reads no more of the
	// input than necessary, and reports whether it read any.
	Known(ctx context.Context, shard int, bad []setdir.BadSample) (identity []byte, now []setdir.BadSample, read bool, err error)
	// Inputs returns the records of a shard's inputs, after Known.
	Inputs(shard int) []setdir.Input
	// Prepare is called once before the pieces of the given shards are requested: all of them in that
	// order, or some in any order.
	Prepare(ctx context.Context, shards []int, inOrder bool) error
	// Rest is called when no more pieces are requested and none is in progress: it ends what
	// Prepare began.
	Rest()
	// Pieces yields what makes the records of a shard, in their order. The functions run concurrently,
	// and fill the piece they are given.
	Pieces(ctx context.Context, shard int) iter.Seq2[Fill, error]
	// AnyOrder reports, after Prepare, whether pieces of different shards may be taken in any
	// order. Otherwise the pieces of a shard are taken after all pieces of the shard before.
	AnyOrder() bool
	// LabelCounts maps label counts by id to counts by name; nil without labels.
	LabelCounts(byID map[int32]int64) map[string]int64
	// Describe fills in the manifest's description of the records.
	Describe(m *manifest.Manifest)
}

// Layout is the result of planning an input.
type Layout struct {
	Shards []Shard
	// Options are those that the records depend on, by manifest key, and Table has all of them.
	Options map[string]any
	Table   option.Table
	Codecs  Codecs
	Skipped int64     // files in the input that are not samples
	LeftOut []LeftOut // unused parts of the input, by reason
	Decoded *Tally    // images by decoder; nil if there is only one
	Workers int       // goroutines that make records; 0: as many as Options say
	Memory  int64     // bounds the memory for samples in progress, in bytes; 0: no bound
	Causes  []string  // why samples are unusable: BadSamplesError.Causes
}

// Shard is one planned shard.
type Shard struct {
	Name    shard.Name
	Samples int64
	// Unusable is how many ledger entries it will have by what the listing shows; reading may find more.
	Unusable int64
	Bytes    int64 // of its records before compression, estimated from the input; 0: unknown
}

// Settled is the age a file needs for its time to reveal a later change. File systems have coarse
// timestamps, so the time of a file that has just changed may stay the same when it changes again.
const Settled = time.Second
