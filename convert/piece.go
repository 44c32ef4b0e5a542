package convert

import (
	"slices"
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
	large                []byte  // of [getLarge], with the frames; nil: they have memory of their own
	sizes                []int   // of each frame
	labels               []int32 // of each record, if there are labels
	bad                  []setdir.BadSample
	samples              int64
	filtered             int64
	annotations, dropped int64 // objects in the records, and those that are not
	deep, narrowed       int64 // records, as manifest.Shard counts them
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

// frame appends a record of several parts.
func (p *piece) frame(parts ...[]byte) {
	start, size := len(p.frames), tfrecord.Overhead
	for _, part := range parts {
		size += len(part)
	}
	var mark int
	p.frames, mark = tfrecord.BeginFrame(slices.Grow(p.frames, size))
	for _, part := range parts {
		p.frames = append(p.frames, part...)
	}
	p.frames = tfrecord.EndFrame(p.frames, mark)
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
func (p *piece) size() int64 { return int64(max(cap(p.frames), len(p.large))) }

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
	if p.large != nil {
		putLarge(p.large)
		p.frames, p.large = nil, nil
	}
	if cap(p.frames) <= keepFrames {
		p.reset()
		pieces.Put(p)
	}
}

// mark is how far a piece was before a sample.
type mark struct {
	identity, inputs, bad int
	dropped, bytesIn      int64
}

func (p *piece) mark() mark {
	return mark{len(p.identity), len(p.inputs), len(p.bad), p.dropped, p.bytesIn}
}

func (p *piece) returnTo(to mark) {
	p.identity, p.inputs, p.bad = p.identity[:to.identity], p.inputs[:to.inputs], p.bad[:to.bad]
	p.dropped, p.bytesIn = to.dropped, to.bytesIn
}
