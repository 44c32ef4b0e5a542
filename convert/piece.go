package convert

import (
	"context"
	"iter"
	"sync"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// source is what a run needs of a kind of input. A job is one shard to be
// made; jobs are numbered in the order of the manifest.
type source interface {
	// jobs returns the planned shards.
	jobs() []job
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

// job is one planned shard.
type job struct {
	name    shard.Name
	samples int64
	bytes   int64 // of its records before compression, estimated from the input; 0: not known
}

// task makes a piece. An error ends the run: what is wrong with a sample goes
// into the piece.
type task func(p *piece) error

// piece is what one unit of work makes: some records of one shard, framed, and
// all that the shard has to know of them.
type piece struct {
	frames   []byte
	sizes    []int   // of each frame
	labels   []int32 // of each record, where there are labels
	bad      []setdir.BadSample
	samples  int64
	filtered int64
	bytesIn  int64
	inputs   []setdir.Input
	identity []byte // goes into the shard's fingerprint
	room     *room  // the memory that its task may take; nil: any
}

// reserve waits until the task may take n more bytes, and keeps them for it until
// settle or its end. An error ends the run.
func (p *piece) reserve(n int64) error { return p.room.reserve(n) }

// settle gives back what was reserved, but for what the piece holds.
func (p *piece) settle() { p.room.keep(p.size()) }

// frame appends the record that the builder holds.
func (p *piece) frame(b *tfrecord.Builder) {
	start := len(p.frames)
	var mark int
	p.frames, mark = tfrecord.BeginFrame(p.frames)
	p.frames = tfrecord.EndFrame(b.Append(p.frames), mark)
	p.sizes = append(p.sizes, len(p.frames)-start)
}

// size is about how much memory the piece holds.
func (p *piece) size() int64 { return int64(cap(p.frames)) }

func (p *piece) reset() {
	*p = piece{
		frames: p.frames[:0], sizes: p.sizes[:0], labels: p.labels[:0],
		inputs: p.inputs[:0], identity: p.identity[:0],
	}
}

// keepFrames is the largest buffer that is kept for reuse: one huge image
// should not hold its memory for the rest of the run.
const keepFrames = 8 << 20

var pieces = sync.Pool{New: func() any { return new(piece) }}

func getPiece() *piece { return pieces.Get().(*piece) }

func putPiece(p *piece) {
	if cap(p.frames) <= keepFrames {
		p.reset()
		pieces.Put(p)
	}
}
