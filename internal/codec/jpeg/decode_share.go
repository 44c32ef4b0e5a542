package jpeg

import (
	"sync"
	"sync/atomic"
)

// large reports whether the image has as many blocks as a scan that is decoded in pieces, and
// processors may be spare.
func (c *checker) large() bool {
	return c.spare != nil && c.h.blocks() >= int64(leastPieces*pieceBlocks)
}

// share calls do for all numbers below n, in any order and at the same time, with the processors that
// are spare. It panics if one of the calls does, when none is left.
func (c *checker) share(n int, do func(i int)) {
	var next atomic.Int64
	var crash atomic.Pointer[any]
	helped(c.spare, 0, func(helpers int) bool { return helpers < min(maxHelpers, n-1) }, func() {
		defer func() {
			if p := recover(); p != nil {
				crash.Store(&p)
			}
		}()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	})
	if p := crash.Load(); p != nil {
		panic(*p)
	}
}

// helped calls run in this goroutine and in one helper for each processor: first for those that the
// caller has taken from spare, then for any others there, while more, given the number of helpers so
// far, returns true. It returns when all calls have ended. run must not panic.
func helped(spare Spare, taken int, more func(helpers int) bool, run func()) {
	var wait sync.WaitGroup
	for i := 0; i < taken || more(i) && spare.TryAcquire(); i++ {
		wait.Go(func() {
			defer spare.Release()
			run()
		})
	}
	run()
	wait.Wait()
}
