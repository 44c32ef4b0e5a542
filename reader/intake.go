package reader

import "context"

// intake is what reads a file ahead needs of the stage that it reads for.
type intake struct {
	ctx     context.Context
	run     *run
	readers *gate       // at most so many reads of files at a time
	needed  func() bool // somebody waits for this file
}

// grow makes b's buffer n bytes large at least, and keeps the first of them.
// Above ordinary bytes, for which there is always room, it waits until there is
// room to read ahead, or until somebody waits for it.
func (in *intake) grow(b *Block, keep, n, ordinary int) error {
	if cap(b.buf) >= n {
		return nil
	}
	old := b.buf
	if !in.make(b, n, ordinary, true) {
		return in.ctx.Err()
	}
	copy(b.buf, old[:keep])
	return nil
}

// tryGrow is grow that keeps nothing and does not wait. It reports whether there
// was room.
func (in *intake) tryGrow(b *Block, n, ordinary int) bool {
	return cap(b.buf) >= n || in.make(b, n, ordinary, false)
}

func (in *intake) make(b *Block, n, ordinary int, wait bool) bool {
	if n <= ordinary {
		b.setBuf(make([]byte, n))
		return true
	}
	more := int64(n - cap(b.buf))
	if !in.run.budget.read(in.ctx, more, wait, in.needed) {
		return false
	}
	b.charged += more
	b.buf = make([]byte, n)
	return true
}
