package reader

import "sync/atomic"

// Record is one record as it was read, and where.
type Record struct {
	// Data is the payload. It aliases a buffer of its Block: valid until the
	// Block is released, and not to be changed.
	Data []byte
	// Offset is where the record's frame begins, in the uncompressed stream.
	Offset int64
	// Number of the record in its file, from 0. A stretch of broken framing
	// that was skipped counts as one record.
	Number int64
	// File is the place of the record's file in [Set.Sources].
	File int32
	// Epoch is how often the set was read before, from 0.
	Epoch int32
	// Pad says that the record is given once more, to fill up an uneven end
	// (see [PadEnds]).
	Pad bool
}

// blockRecords is how many records a stage puts into a block that it makes:
// enough to make the cost of handing over a block small for each of them, few
// enough to stay in the cache.
const blockRecords = 512

// blockBytes is from how many bytes on a block takes no more records: those of
// large ones are not to be held together.
const blockBytes = 1 << 20

// Block is some records in a row. Stages hand over blocks, so that no record
// costs a lock, a channel or an allocation. A Block is used by one goroutine at
// a time, but for Retain, Release and State, which any may call.
type Block struct {
	// Records, one at least. The slice is the Block's, as the data are.
	Records []Record

	run     *run
	store   []Record // the memory of Records, which may begin later
	buf     []byte   // what Records alias, when it is the block's own
	parents []*Block // blocks whose buffers Records alias
	at      position // where the stage stood, before elements ahead of Records
	before  int64
	refs    atomic.Int32
	charged int64 // bytes in the run's budget,
	reading bool  // as read ahead

	// Of blocks that a feed made: what follows them, and what was skipped.
	end    cursor
	faults []fault
}

// Retain keeps the Block for one more Release.
func (b *Block) Retain() { b.refs.Add(1) }

// Release gives the memory of the Block back, its Records with it. A Block that
// is never released is left to the garbage collector.
func (b *Block) Release() {
	switch left := b.refs.Add(-1); {
	case left > 0:
		return
	case left < 0:
		panic("reader: Block released more often than retained")
	}
	for _, p := range b.parents {
		p.Release()
	}
	b.run.blocks.put(b)
}

// State returns the state of a consumer that has received the first n of the
// Records, and all blocks before.
func (b *Block) State(n int) State { return b.run.state(b.at, b.before+int64(n)) }

// behind takes the first n of the Records off.
func (b *Block) behind(n int) *Block {
	b.Records, b.before = b.Records[n:], b.before+int64(n)
	return b
}

// adopt keeps parent until b is released.
func (b *Block) adopt(parent *Block) {
	parent.Retain()
	b.parents = append(b.parents, parent)
}

// bytes is the size of the payloads.
func (b *Block) bytes() int64 {
	var n int64
	for i := range b.Records {
		n += int64(len(b.Records[i].Data))
	}
	return n
}

// recordSize is about what a Record takes, its data aside.
const recordSize = 64

// size is how much memory a block has that newBuffer made.
func (b *Block) size() int64 {
	return int64(cap(b.buf)) + recordSize*int64(max(cap(b.store), cap(b.Records)))
}

// setBuf gives a block that newBuffer made another buffer.
func (b *Block) setBuf(buf []byte) {
	b.buf = buf
	b.settle()
}

// settle brings what the budget knows of a block up to date.
func (b *Block) settle() { b.charge(b.size() - b.charged) }

func (b *Block) charge(n int64) {
	b.charged += n
	switch {
	case n == 0:
	case b.reading:
		b.run.budget.add(n, n)
	default:
		b.run.budget.add(n, 0)
	}
}

// handOver says that the block has left the hands of what reads ahead.
func (b *Block) handOver() {
	if b.reading {
		b.reading = false
		b.run.budget.add(0, -b.charged)
	}
}
