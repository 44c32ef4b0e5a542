package convert

import (
	"context"
	"iter"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// input is a source of samples before planning. Each kind has its own files; runs, plans, array
// jobs and updates only know input and source.
type input interface {
	// shared returns the options common to all kinds of input; scan fills in their defaults.
	shared() *Options
	// scan checks the options, fills in defaults, and reads from the input what plan needs. The
	// output directory out is not part of the input.
	scan(ctx context.Context, out string) error
	// plan assigns the input to shards, with regard to what an earlier run left.
	plan(ctx context.Context, before *previous) (source, error)
	// close releases what scan and plan hold.
	close()
}

// source is a planned input as seen by a run. A job is one shard to make; jobs are numbered in the
// order of the manifest.
type source interface {
	// layout returns what the run needs to know of the plan.
	layout() layout
	// attach is called once, before all of the following, with the directory of the set.
	attach(dir *setdir.Dir)
	// place is the location of the inputs on this machine.
	place() string
	// remember saves the results of planning for the next run. It is called once the run is certain
	// to be carried out, and again when its shards are made.
	remember()
	// keys returns the keys of a job's samples, in order, nil if there are too many to keep.
	keys(job int) []string
	// files yields the paths of everything the set is made from, as the caller named it: files, and
	// directories whose entries matter.
	files() iter.Seq[string]
	// outline is what a job is planned from, in a form that is the same on every machine: as much
	// of its samples' identity as planning knows.
	outline(job int) []byte
	// recall returns what receives the inputs that are recorded for the shards of these jobs; nil if
	// they are of no use.
	recall(jobs []int) *setdir.Recall
	// known returns the identity of all of a job's samples, in order, as in the pieces of a shard with
	// these ledger entries, and the entries as they are now if the identity is that of the shard. It
	// reads no more of the input than necessary, and reports whether it read any.
	known(ctx context.Context, job int, bad []setdir.BadSample) (identity []byte, now []setdir.BadSample, read bool, err error)
	// inputs returns what is recorded of a job's inputs after known.
	inputs(job int) []setdir.Input
	// prepare is called once before the pieces of the given jobs are requested: all of them in that
	// order, or some in any order.
	prepare(ctx context.Context, jobs []int, inOrder bool) error
	// rest is called when no more pieces are requested and none is in progress: it ends what
	// prepare began.
	rest()
	// tasks yields the work of a job in the order of its records. Tasks run concurrently, and fill
	// the piece they are given.
	tasks(ctx context.Context, job int) iter.Seq2[task, error]
	// anyOrder reports, after prepare, whether tasks of different jobs may be taken in any order.
	// Otherwise those of one job are taken after all of the one before.
	anyOrder() bool
	// labelCounts maps label counts by id to counts by name; nil without labels.
	labelCounts(byID map[int32]int64) map[string]int64
	// describe fills in the manifest's description of the records.
	describe(m *manifest.Manifest)
}

// layout is the result of planning an input.
type layout struct {
	jobs []job
	// options are those that the records depend on, by manifest key; "source" is the kind of input:
	// kinds maps it to the fields that set them.
	options map[string]any
	codecs  codecs
	skipped int64     // files in the input that are not samples
	leftOut []LeftOut // what is not used, by reason
	decoded *tally    // images by decoder; nil if there is only one
	workers int       // goroutines that make records; 0: as many as Options say
	memory  int64     // bounds the memory for samples in progress, in bytes; 0: no bound
	causes  []string  // why samples are unusable: BadSamplesError.Causes
}

// job is one planned shard.
type job struct {
	name    shard.Name
	samples int64
	bytes   int64 // of its records before compression, estimated from the input; 0: unknown
}
