package plan

import (
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/tfrecord"
)

// Fill makes a piece. An error ends the run: errors of samples go into the piece.
type Fill func(p *Piece) error

// Piece is the result of one unit of work: some framed records of one shard, and everything the
// shard needs to know about them.
type Piece struct {
	Frames               []byte
	large                []byte  // of [GetLarge], with the frames; nil: they have memory of their own
	Sizes                []int   // of each frame
	Labels               []int32 // of the records that have one
	Bad                  []setdir.BadSample
	Samples              int64
	Filtered             int64
	Annotations, Dropped int64 // objects in the records, and those that are not
	Deep, Narrowed       int64 // records, as manifest.Shard counts them
	AlphaDropped         int64 // records
	BytesIn              int64
	inputs               []setdir.Input
	Identity             []byte // goes into the shard's fingerprint
	room                 *room  // memory of its task; nil: unlimited
}

// Reserve waits until the task may use n more bytes, and reserves them until settle or the end of
// the task. An error ends the run.
func (p *Piece) Reserve(n int64) error { return p.room.reserve(n) }

// Settle releases the reservation beyond the size of the piece.
func (p *Piece) Settle() { p.room.keep(p.size()) }

// Frame appends a record of several parts.
func (p *Piece) Frame(parts ...[]byte) {
	start, size := len(p.Frames), tfrecord.Overhead
	for _, part := range parts {
		size += len(part)
	}
	var mark int
	p.Frames, mark = tfrecord.BeginFrame(slices.Grow(p.Frames, size))
	for _, part := range parts {
		p.Frames = append(p.Frames, part...)
	}
	p.Frames = tfrecord.EndFrame(p.Frames, mark)
	p.Sizes = append(p.Sizes, len(p.Frames)-start)
}

// AddInputs records files that were read, without those that have no key: they may have changed.
func (p *Piece) AddInputs(inputs ...setdir.Input) {
	for _, in := range inputs {
		if in.Key != "" {
			p.inputs = append(p.inputs, in)
		}
	}
}

// size is the approximate memory of the piece.
func (p *Piece) size() int64 { return int64(max(cap(p.Frames), len(p.large))) }

// free gives back a piece that [ordered] handed over. The caller must not use it after.
func (p *Piece) free() {
	size, room := p.size(), p.room
	putPiece(p)
	room.consumed(room.turn, size)
}

func (p *Piece) reset() {
	*p = Piece{
		Frames: p.Frames[:0], Sizes: p.Sizes[:0], Labels: p.Labels[:0],
		inputs: p.inputs[:0], Identity: p.Identity[:0],
	}
}

// KeepFrames is the maximum size of a reused buffer: one huge image should not hold its memory for
// the rest of the run.
const KeepFrames = 8 << 20

var pieces = sync.Pool{New: func() any { return new(Piece) }}

func getPiece() *Piece { return pieces.Get().(*Piece) }

func putPiece(p *Piece) {
	if p.large != nil {
		PutLarge(p.large)
		p.Frames, p.large = nil, nil
	}
	if cap(p.Frames) <= KeepFrames {
		p.reset()
		pieces.Put(p)
	}
}

// Mark records the length of a piece before a sample.
type Mark struct {
	Identity, inputs, bad int
	dropped, bytesIn      int64
}

// Mark returns the present length of the piece.
func (p *Piece) Mark() Mark {
	return Mark{len(p.Identity), len(p.inputs), len(p.Bad), p.Dropped, p.BytesIn}
}

// ReturnTo drops what was added to the piece since a mark, but no record.
func (p *Piece) ReturnTo(to Mark) {
	p.Identity, p.inputs, p.Bad = p.Identity[:to.Identity], p.inputs[:to.inputs], p.Bad[:to.bad]
	p.Dropped, p.BytesIn = to.dropped, to.bytesIn
}
