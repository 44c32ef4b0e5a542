package reader

import (
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/storage"
)

// Record is one record as read, and its position.
type Record struct {
	// Data is the payload. It aliases a buffer of its Block: valid until the Block is released, and
	// read-only.
	Data []byte
	// Offset is where the record's frame begins, in the uncompressed stream.
	Offset int64
	// Number of the record in its file, from 0. A skipped stretch of broken framing counts as one
	// record.
	Number int64
	// File is the index of the record's file in [Set.Sources].
	File int32
	// Epoch is how often the set had been read before, from 0.
	Epoch int32
	// Pad means that the record is a repeat, to make the parts even (see [UnevenPad]).
	Pad bool
}

// blockRecords is how many records a stage puts into a block that it builds: enough to amortise
// handing over a block, few enough to stay in the cache.
const blockRecords = 512

// blockBytes is the size from which a block takes no more records, so that large ones are not all
// held together.
const blockBytes = 1 << 20

// Block is a run of consecutive records. Stages hand over blocks, so that no record costs a lock, a
// channel operation or an allocation. A Block is used by one goroutine at a time, except for
// Retain, Release and State, which are safe for concurrent use.
type recordBlock struct {
	// Records, at least one. The slice and the data belong to the Block.
	Records []Record

	run     *run
	store   []Record // backing array of Records, which may begin later
	buf     []byte   // what Records alias, if the block owns it
	parents []*recordBlock // blocks whose buffers Records alias
	lent    [][]byte // memory that Records alias, and that goes back to lender
	lender  *lent
	loan    *storage.Loan // memory that Records alias; nil: none
	at      position      // position of the stage before Records
	before  int64
	refs    atomic.Int32
	charged int64 // bytes in the run's budget,
	reading bool  // as read-ahead

	// Of blocks made by a feed: what follows them, and what was skipped.
	end    cursor
	faults []fault
}

// Retain adds a reference: the Block needs one more Release.
func (b *recordBlock) Retain() { b.refs.Add(1) }

// Release returns the memory of the Block and its Records. A Block that is never released is left
// to the garbage collector.
func (b *recordBlock) Release() {
	switch left := b.refs.Add(-1); {
	case left > 0:
		return
	case left < 0:
		panic("reader: Block released more often than retained")
	}
	for _, p := range b.parents {
		p.Release()
	}
	if b.run.opts.PoisonRecycled {
		b.poison()
	}
	if len(b.lent) > 0 {
		b.lender.giveBack(b.lent)
	}
	if b.loan != nil {
		b.loan.Release()
	}
	b.run.blocks.put(b)
}

// lend adds memory that goes back to its lender when b is released.
func (b *recordBlock) lend(memory []byte, by *lent) {
	b.lent, b.lender = append(b.lent, memory), by
}

// State returns the state of a consumer that has received the first n of the Records and all blocks
// before.
func (b *recordBlock) State(n int) State { return b.run.state(b.at, b.before+int64(n)) }

// behind removes the first n of the Records.
func (b *recordBlock) behind(n int) *recordBlock {
	b.Records, b.before = b.Records[n:], b.before+int64(n)
	return b
}

// adopt retains parent until b is released.
func (b *recordBlock) adopt(parent *recordBlock) {
	parent.Retain()
	b.parents = append(b.parents, parent)
}

// bytes is the size of the payloads.
func (b *recordBlock) bytes() int64 {
	var n int64
	for i := range b.Records {
		n += int64(len(b.Records[i].Data))
	}
	return n
}

// recordSize is about the size of a Record without its data.
const recordSize = 64

// filled is the size of the buffer or the loan that Records alias, as far as it is in use.
func (b *recordBlock) filled() int {
	if b.loan != nil {
		return len(b.loan.Data)
	}
	return len(b.buf)
}

// size is the memory of a block from newBuffer or a blockAllocator.
func (b *recordBlock) size() int64 {
	n := int64(cap(b.buf))
	if b.loan != nil {
		n += int64(len(b.loan.Data))
	}
	return n + recordSize*int64(max(cap(b.store), cap(b.Records)))
}

// setBuf gives a block from newBuffer another buffer.
func (b *recordBlock) setBuf(buf []byte) {
	b.buf = buf
	b.settle()
}

// settle updates the budget to the size of the block.
func (b *recordBlock) settle() { b.charge(b.size() - b.charged) }

func (b *recordBlock) charge(n int64) {
	b.charged += n
	switch {
	case n == 0:
	case b.reading:
		b.run.budget.add(n, n)
	default:
		b.run.budget.add(n, 0)
	}
}

// handOver marks the block as no longer read-ahead.
func (b *recordBlock) handOver() {
	if b.reading {
		b.reading = false
		b.run.budget.add(0, -b.charged)
	}
}

// cursor is a position between two records of a file.
type cursor struct {
	number int64 // of the next record
	offset int64 // where its frame begins, in the uncompressed stream
}

// lent collects the memory that blocks of a shuffle return.
type lent struct {
	mu   sync.Mutex
	back [][]byte
}

func (l *lent) giveBack(memory [][]byte) {
	l.mu.Lock()
	l.back = append(l.back, memory...)
	l.mu.Unlock()
}

// takeBack calls keep with the memory that came back since the last call.
func (l *lent) takeBack(keep func(memory []byte)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, memory := range l.back {
		keep(memory)
	}
	clear(l.back)
	l.back = l.back[:0]
}
