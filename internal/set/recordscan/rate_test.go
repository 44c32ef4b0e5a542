package recordscan

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRateLimit has several readers share a rate, in time that is made.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate = 1_000_000
		l := NewRateLimit(rate)
		began := time.Now()
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for left := 2_500_000; left > 0; {
					n := len(l.Part(make([]byte, left)))
					if n > rate/readsASecond {
						t.Errorf("a read of %d bytes", n)
					}
					if err := l.Wait(context.Background(), n); err != nil {
						t.Error(err)
					}
					left -= n
				}
			})
		}
		wait.Wait()
		if took := time.Since(began); took < 10*time.Second-time.Millisecond || took > 10*time.Second+time.Millisecond {
			t.Errorf("10 MB at 1 MB/s took %v", took)
		}
		time.Sleep(time.Hour) // which is not made up for
		began = time.Now()
		if err := l.Wait(context.Background(), rate); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < time.Second-time.Millisecond {
			t.Errorf("after a pause 1 MB took %v", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := l.Wait(ctx, 60*rate); err != context.DeadlineExceeded {
			t.Errorf("%v", err)
		}
	})
	if l := NewRateLimit(0); l.Wait(context.Background(), 1<<40) != nil || len(l.Part(make([]byte, 1<<20))) != 1<<20 {
		t.Error("no rate limits")
	}
}
