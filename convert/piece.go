package convert

import (
	"sync"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/tfrecord"
)

// task makes a piece. An error ends the run: errors of samples go into the piece.
type task func(p *piece) error

// piece is the result of one unit of work: some framed records of one shard, and everything the
// shard needs to know about them.
type piece struct {
	frames               []byte
	sizes                []int   // of each frame
	labels               []int32 // of each record, if there are labels
	bad                  []setdir.BadSample
	samples              int64
	filtered             int64
	annotations, dropped int64 // objects in the records, and those that are not
	bytesIn              int64
	inputs               []setdir.Input
	identity             []byte // goes into the shard's fingerprint
	room                 *room  // memory of its task; nil: unlimited
}

// reserve waits until the task may use n more bytes, and reserves them until settle or the end of
// the task. An error ends the run.
func (p *piece) reserve(n int64) error { return p.room.reserve(n) }

// settle releases the reservation beyond the size of the piece.
func (p *piece) settle() { p.room.keep(p.size()) }

// frame appends the builder's record.
func (p *piece) frame(b *tfrecord.Builder) {
	start := len(p.frames)
	var mark int
	p.frames, mark = tfrecord.BeginFrame(p.frames)
	p.frames = tfrecord.EndFrame(b.Append(p.frames), mark)
	p.sizes = append(p.sizes, len(p.frames)-start)
}

// addInputs records files that were read, without those that have no key: they may have changed.
func (p *piece) addInputs(inputs ...setdir.Input) {
	for _, in := range inputs {
		if in.Key != "" {
			p.inputs = append(p.inputs, in)
		}
	}
}

// size is the approximate memory of the piece.
func (p *piece) size() int64 { return int64(cap(p.frames)) }

// free gives back a piece that [ordered] handed over. The caller must not use it after.
func (p *piece) free() {
	size, room := p.size(), p.room
	putPiece(p)
	room.consumed(room.turn, size)
}

func (p *piece) reset() {
	*p = piece{
		frames: p.frames[:0], sizes: p.sizes[:0], labels: p.labels[:0],
		inputs: p.inputs[:0], identity: p.identity[:0],
	}
}

// keepFrames is the maximum size of a reused buffer: one huge image should not hold its memory for
// the rest of the run.
const keepFrames = 8 << 20

var pieces = sync.Pool{New: func() any { return new(piece) }}

func getPiece() *piece { return pieces.Get().(*piece) }

func putPiece(p *piece) {
	if cap(p.frames) <= keepFrames {
		p.reset()
		pieces.Put(p)
	}
}
