package jpeg

import (
	"sync"
	"sync/atomic"
)

// large says whether the image has as many blocks as a scan that is decoded in pieces, and whether
// there may be someone to help.
func (c *checker) large() bool {
	return c.spare != nil && c.h.blocks() >= int64(leastPieces*pieceBlocks)
}

// share calls do for all numbers below n, in any order and at the same time, with the processors that
// are spare. It panics if one of the calls does, when none is left.
func (c *checker) share(n int, do func(i int)) {
	var next atomic.Int64
	run := func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	}
	var crash atomic.Pointer[any]
	func() {
		var wait sync.WaitGroup
		defer wait.Wait()
		for range min(maxHelpers, n-1) {
			if !c.spare.TryAcquire() {
				break
			}
			wait.Go(func() {
				defer c.spare.Release()
				defer func() {
					if p := recover(); p != nil {
						crash.Store(&p)
					}
				}()
				run()
			})
		}
		run()
	}()
	if p := crash.Load(); p != nil {
		panic(*p)
	}
}
