package par

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// ForEach runs work in as many goroutines as there are workers (GOMAXPROCS when 0), which together
// take the numbers below n from next, each number once. It returns when all have ended. After ctx
// is done no more numbers are given out.
func ForEach(ctx context.Context, n, workers int, work func(next func() (int, bool))) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var taken atomic.Int64
	next := func() (int, bool) {
		i := int(taken.Add(1)) - 1
		return i, i < n && ctx.Err() == nil
	}
	var wait sync.WaitGroup
	for range min(workers, n) {
		wait.Go(func() { work(next) })
	}
	wait.Wait()
}
