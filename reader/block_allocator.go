package reader

import (
	"context"

	"github.com/tfrec/tfrec/internal/storage"
)

// blockAllocator allocates the blocks of a file that is read ahead, for the stage that reads it.
type blockAllocator struct {
	ctx     context.Context
	run     *run
	readers *gate       // bounds concurrent file reads
	needed  func() bool // the consumer waits for this file
}

// block returns an empty block whose buffer has at least n bytes. It waits until there is room to
// read ahead, or until the consumer waits for the file.
func (in *blockAllocator) block(n int) (*recordBlock, error) {
	if !in.run.budget.read(in.ctx, int64(n), in.needed) {
		return nil, in.ctx.Err()
	}
	return in.alloc(n), nil
}

// tryBlock is block without waiting: nil if there is no room.
func (in *blockAllocator) tryBlock(n int) *recordBlock {
	if !in.run.budget.tryRead(int64(n)) {
		return nil
	}
	return in.alloc(n)
}

func (in *blockAllocator) alloc(n int) *recordBlock {
	b := in.run.buffer(true, int64(n))
	if cap(b.buf) < n {
		b.setBuf(make([]byte, n))
	}
	return b
}

// borrowed returns a block without records, for those in the memory of a loan, which it takes over.
// It waits as block does.
func (in *blockAllocator) borrowed(loan *storage.Loan) (*recordBlock, error) {
	n := int64(len(loan.Data))
	if !in.run.budget.read(in.ctx, n, in.needed) {
		loan.Release()
		return nil, in.ctx.Err()
	}
	b := in.run.newBlock()
	b.loan, b.charged, b.reading = loan, n, true
	return b, nil
}

// grow makes b's buffer at least n bytes large and preserves the first keep bytes. It waits as
// block does.
func (in *blockAllocator) grow(b *recordBlock, keep, n int) error {
	more := int64(n - cap(b.buf))
	if more <= 0 {
		return nil
	}
	if !in.run.budget.read(in.ctx, more, in.needed) {
		return in.ctx.Err()
	}
	b.charged += more
	buf := make([]byte, n)
	copy(buf, b.buf[:keep])
	b.buf = buf
	return nil
}
