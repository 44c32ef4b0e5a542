package reader

import "context"

// blockAllocator is what reads a file ahead needs of the stage that it reads for.
type blockAllocator struct {
	ctx     context.Context
	run     *run
	readers *gate       // at most so many reads of files at a time
	needed  func() bool // somebody waits for this file
}

// block returns an empty block whose buffer has n bytes at least. It waits until
// there is room to read ahead, or until somebody waits for the file.
func (in *blockAllocator) block(n int) (*Block, error) {
	if !in.run.budget.read(in.ctx, int64(n), in.needed) {
		return nil, in.ctx.Err()
	}
	return in.alloc(n), nil
}

// tryBlock is block that does not wait: nil when there is no room.
func (in *blockAllocator) tryBlock(n int) *Block {
	if !in.run.budget.tryRead(int64(n)) {
		return nil
	}
	return in.alloc(n)
}

func (in *blockAllocator) alloc(n int) *Block {
	b := in.run.buffer(true, int64(n))
	if cap(b.buf) < n {
		b.setBuf(make([]byte, n))
	}
	return b
}

// grow makes b's buffer n bytes large at least, and keeps the first of them. It
// waits as block does.
func (in *blockAllocator) grow(b *Block, keep, n int) error {
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
