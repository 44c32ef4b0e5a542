package records

import (
	"context"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// blockAllocator allocates the blocks of a file that is read ahead, for the stage that reads it.
type blockAllocator struct {
	ctx     context.Context
	run     *pipeline.Run
	readers *pipeline.Gate // bounds concurrent file reads
	needed  func() bool    // the consumer waits for this file
}

// block returns an empty block whose buffer has at least n bytes. It waits until there is room to
// read ahead, or until the consumer waits for the file.
func (in *blockAllocator) block(n int) (*pipeline.Block, error) {
	if !in.run.Budget.Read(in.ctx, int64(n), in.needed) {
		return nil, in.ctx.Err()
	}
	return in.alloc(n), nil
}

// tryBlock is block without waiting. It returns nil if memory is short.
func (in *blockAllocator) tryBlock(n int) *pipeline.Block {
	if !in.run.Budget.TryRead(int64(n)) {
		return nil
	}
	return in.alloc(n)
}

func (in *blockAllocator) alloc(n int) *pipeline.Block {
	b := in.run.Buffer(true, int64(n))
	if cap(b.Buf) < n {
		b.SetBuf(make([]byte, n))
	}
	return b
}

// borrowed returns a block without records, for those in the memory of a loan, which it takes over.
// It waits as block does.
func (in *blockAllocator) borrowed(loan *storage.Loan) (*pipeline.Block, error) {
	n := int64(len(loan.Data))
	if !in.run.Budget.Read(in.ctx, n, in.needed) {
		loan.Release()
		return nil, in.ctx.Err()
	}
	b := in.run.NewBlock()
	b.Loan, b.Charged, b.Reading = loan, n, true
	return b, nil
}

// grow makes b's buffer at least n bytes large and preserves the first keep bytes. It waits as
// block does.
func (in *blockAllocator) grow(b *pipeline.Block, keep, n int) error {
	more := int64(n - cap(b.Buf))
	if more <= 0 {
		return nil
	}
	if !in.run.Budget.Read(in.ctx, more, in.needed) {
		return in.ctx.Err()
	}
	b.Charged += more
	buf := make([]byte, n)
	copy(buf, b.Buf[:keep])
	b.Buf = buf
	return nil
}
