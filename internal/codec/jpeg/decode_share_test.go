package jpeg

import (
	"sync/atomic"
	"testing"
)

// TestShare: each number has one call, whoever helps; a crash of any comes out when no goroutine is
// left, and all processors are given back.
func TestShare(t *testing.T) {
	for _, helpers := range []int64{0, 1, 5, 100} {
		for _, crash := range []int{-1, 0, 17, 99} {
			free := newSpare(helpers)
			c := &checker{spare: free}
			var calls [100]atomic.Int32
			var running atomic.Int32
			func() {
				defer func() {
					if p := recover(); (p != nil) != (crash >= 0) {
						t.Errorf("%d helpers, a crash at %d: %v", helpers, crash, p)
					}
				}()
				c.share(len(calls), func(i int) {
					running.Add(1)
					defer running.Add(-1)
					if calls[i].Add(1); i == crash {
						panic("a crash")
					}
				})
			}()
			for i := range calls {
				if n := calls[i].Load(); n != 1 && crash < 0 || n > 1 {
					t.Errorf("%d helpers: %d calls of %d", helpers, n, i)
				}
			}
			if running.Load() != 0 || free.free.Load() != helpers || free.taken.Load() > maxHelpers {
				t.Errorf("%d helpers, a crash at %d: %d calls go on, %d processors are free", helpers, crash, running.Load(), free.free.Load())
			}
		}
	}
}
