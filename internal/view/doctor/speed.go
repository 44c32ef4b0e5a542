package doctor

import (
	"context"
	"sync"
	"time"

	"github.com/tfrec/tfrec/reader"
)

// speed is per second.
type speed struct{ records, bytes float64 }

// over is the speed at which work was done in some time.
func (w work) over(d time.Duration) speed {
	s := max(d.Seconds(), 1e-9)
	return speed{float64(w.records) / s, float64(w.bytes) / s}
}

// work counts completed work.
type work struct{ records, bytes int64 }

func (w *work) add(more work) {
	w.records += more.records
	w.bytes += more.bytes
}

// repeat calls what each of n workers does, again and again for some time, and returns the speed of
// all together. A call takes a small part of the time.
func repeat(ctx context.Context, n int, d time.Duration, worker func(i int) func() work) speed {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var all work
	began := time.Now()
	for i := range n {
		wait.Go(func() {
			do := worker(i)
			var mine work
			for mine.records == 0 || time.Since(began) < d && ctx.Err() == nil {
				done := do()
				if done.records == 0 {
					break
				}
				mine.add(done)
			}
			mu.Lock()
			all.add(mine)
			mu.Unlock()
		})
	}
	wait.Wait()
	return all.over(time.Since(began))
}

// flowSpeed returns the speed of a flow over records that repeat, whose first pass fills a cache:
// it counts from the second pass on, or from half of the time if the first takes longer.
func flowSpeed[T any](ctx context.Context, f reader.Flow[T], d time.Duration, look func(T) (records int, epoch int32)) (speed, error) {
	run, err := f.Start(ctx, reader.From{})
	if err != nil {
		return speed{}, err
	}
	defer run.Close()
	began := time.Now()
	var from time.Time
	var done work
	for from.IsZero() || done.records == 0 || time.Since(began) < d {
		v, err := run.Next()
		if err != nil {
			return speed{}, err
		}
		n, epoch := look(v)
		if !from.IsZero() {
			done.records += int64(n)
		} else if epoch > 0 || time.Since(began) > d/2 {
			from = time.Now()
		}
	}
	return done.over(time.Since(from)), nil
}
