package convert

import (
	"context"
	"iter"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/shard"
)

// input is a kind of input that samples come from, before it is planned. Each kind is a file or
// more of its own; runs, plans, array jobs and updates know only input and source.
type input interface {
	// shared returns the options that all kinds of input have, which scan fills in.
	shared() *Options
	// scan checks the options, fills in defaults, and finds out of the input what plan needs. The
	// directory out, which the set goes into, is not part of the input.
	scan(ctx context.Context, out string) error
	// plan deals the input to shards, with a look at what an earlier run left.
	plan(ctx context.Context, before *previous) (source, error)
	// close gives back what scan and plan hold.
	close()
}

// source is what a run needs of an input that is planned. A job is one shard to be
// made; jobs are numbered in the order of the manifest.
type source interface {
	// layout returns what the run has to know of the plan.
	layout() layout
	// attach is called once, before all that follows, with the directory that the
	// set is written into.
	attach(dir *setdir.Dir)
	// place is where the inputs lie on this machine.
	place() string
	// remember writes down what planning found out that the next run need not
	// find out again. It is called once the run is sure to be carried out.
	remember()
	// keys returns the keys of a job's samples, in order, nil where there are
	// too many of them to keep.
	keys(job int) []string
	// files yields the paths of all that the set is made from, as the caller
	// named them: files, and directories whose entries count.
	files() iter.Seq[string]
	// outline is what a job is planned from, in a form that is the same on every
	// machine: as much of its samples' identity as planning knows.
	outline(job int) []byte
	// known returns the identity of all of a job's samples, in order, as its
	// pieces would carry it. It reads no more of the input than it has to, and
	// says whether it had to.
	known(ctx context.Context, job int) (identity []byte, read bool, err error)
	// inputs returns what is remembered of a job's inputs after known.
	inputs(job int) []setdir.Input
	// prepare is called once before the pieces of the given jobs are asked for: of all
	// of them in that order, or of some in any.
	prepare(ctx context.Context, jobs []int, inOrder bool) error
	// rest is called when no more pieces are asked for, and nothing works on those
	// that were: it ends what prepare has begun.
	rest()
	// tasks yields the work of a job in the order of its records. Tasks run
	// concurrently, and fill in the piece that they are given.
	tasks(ctx context.Context, job int) iter.Seq2[task, error]
	// labelCounts names the labels that were counted by id; nil without labels.
	labelCounts(byID map[int32]int64) map[string]int64
	// describe fills in what the manifest says of the records.
	describe(m *shard.Manifest)
}

// layout is what planning made of an input.
type layout struct {
	jobs []job
	// options are those that the records depend on, by their keys in the manifest; "source" is the
	// kind of input: kinds says which fields set them.
	options map[string]any
	codecs  codecs
	skipped int64  // files in the input that are no samples
	decoded *tally // of images, by decoder; nil where there is but one
}

// job is one planned shard.
type job struct {
	name    shard.Name
	samples int64
	bytes   int64 // of its records before compression, estimated from the input; 0: not known
}
