package pipeline

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/store/storage"
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
	// File is the index of the record's file in Set.Sources.
	File int32
	// Epoch counts the earlier passes over the set, from 0.
	Epoch int32
	// Pad means that the record is a repeat, to make the parts even (see [UnevenPad]).
	Pad bool
}

// Clone returns a copy with Data of its own, which stays valid.
func (r Record) Clone() Record {
	r.Data = slices.Clone(r.Data)
	return r
}

// BlockRecords is the number of records in the blocks that stages build: enough to amortise handing
// over a block, few enough to stay in the processor's cache.
const BlockRecords = 512

// BlockBytes is the size from which a block takes no more records, so that large ones are not all
// held together.
const BlockBytes = 1 << 20

// Block is a run of consecutive records. Stages hand over blocks, so that no record costs a lock, a
// channel operation or an allocation. A Block is used by one goroutine at a time, except for
// Retain, Release and State, which are safe for concurrent use.
type Block struct {
	// Records, at least one. The slice and the data belong to the Block.
	Records []Record

	Run     *Run
	store   []Record // backing array of Records, which may begin later
	Buf     []byte   // what Records alias, if the block owns it
	parents []*Block // blocks whose buffers Records alias
	lent    [][]byte // memory that Records alias, and that goes back to lender
	lender  *Lent
	Loan    *storage.Loan // memory that Records alias; nil: none
	At      Position      // position of the stage before Records
	Before  int64
	refs    atomic.Int32
	Charged int64 // bytes in the run's budget,
	Reading bool  // as read-ahead

	// Of blocks made by a feed: what follows them, and what was skipped.
	End    Cursor
	Faults []Fault
}

// Retain adds a reference: the Block needs one more Release.
func (b *Block) Retain() { b.refs.Add(1) }

// Release returns the memory of the Block and its Records. A Block that is never released is left
// to the garbage collector.
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
	if b.Run.Opts.PoisonRecycled {
		b.poison()
	}
	if len(b.lent) > 0 {
		b.lender.giveBack(b.lent)
	}
	if b.Loan != nil {
		b.Loan.Release()
	}
	b.Run.blocks.put(b)
}

// Lend adds memory that goes back to its lender when b is released.
func (b *Block) Lend(memory []byte, by *Lent) {
	b.lent, b.lender = append(b.lent, memory), by
}

// State returns the state of a consumer that has received the first n of the Records and all blocks
// before.
func (b *Block) State(n int) State { return b.Run.State(b.At, b.Before+int64(n)) }

// Behind removes the first n of the Records.
func (b *Block) Behind(n int) *Block {
	b.Records, b.Before = b.Records[n:], b.Before+int64(n)
	return b
}

// Adopt retains parent until b is released.
func (b *Block) Adopt(parent *Block) {
	parent.Retain()
	b.parents = append(b.parents, parent)
}

// Bytes is the size of the payloads.
func (b *Block) Bytes() int64 {
	var n int64
	for i := range b.Records {
		n += int64(len(b.Records[i].Data))
	}
	return n
}

// RecordSize is about the size of a Record without its data.
const RecordSize = 64

// Filled is the size of the buffer or the loan that Records alias, as far as it is in use.
func (b *Block) Filled() int {
	if b.Loan != nil {
		return len(b.Loan.Data)
	}
	return len(b.Buf)
}

// Size is the memory of a block from NewBuffer or a blockAllocator.
func (b *Block) Size() int64 {
	n := int64(cap(b.Buf))
	if b.Loan != nil {
		n += int64(len(b.Loan.Data))
	}
	return n + RecordSize*int64(max(cap(b.store), cap(b.Records)))
}

// SetBuf gives a block from NewBuffer another buffer.
func (b *Block) SetBuf(buf []byte) {
	b.Buf = buf
	b.Settle()
}

// Settle updates the budget to the size of the block.
func (b *Block) Settle() { b.Charge(b.Size() - b.Charged) }

func (b *Block) Charge(n int64) {
	b.Charged += n
	switch {
	case n == 0:
	case b.Reading:
		b.Run.Budget.Add(n, n)
	default:
		b.Run.Budget.Add(n, 0)
	}
}

// HandOver marks the block as no longer read-ahead.
func (b *Block) HandOver() {
	if b.Reading {
		b.Reading = false
		b.Run.Budget.Add(0, -b.Charged)
	}
}

// Cursor is a position between two records of a file.
type Cursor struct {
	Number int64 // of the next record
	Offset int64 // where its frame begins, in the uncompressed stream
}

// Lent collects the memory that blocks of a shuffle return.
type Lent struct {
	mu   sync.Mutex
	back [][]byte
}

func (l *Lent) giveBack(memory [][]byte) {
	l.mu.Lock()
	l.back = append(l.back, memory...)
	l.mu.Unlock()
}

// TakeBack calls keep with the memory that came back since the last call.
func (l *Lent) TakeBack(keep func(memory []byte)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, memory := range l.back {
		keep(memory)
	}
	clear(l.back)
	l.back = l.back[:0]
}
