package recordscan

import (
	"context"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/par"
)

// RateLimit limits the bytes that several readers read together in a second. Readers wait after
// reading, so that over any period from the start of the run no more was read than rate times its
// length, except for the last read of each reader.
type RateLimit struct {
	rate int64 // bytes a second

	mu   sync.Mutex
	free time.Time // when all that was read so far is paid for
}

// NewRateLimit returns nil, which limits nothing, for a rate of 0.
func NewRateLimit(rate int64) *RateLimit {
	if rate <= 0 {
		return nil
	}
	return &RateLimit{rate: rate}
}

// readsASecond is into how many reads a second's bytes are cut, so that a disk
// is used evenly; not below 4 KiB each.
const readsASecond = 20

// Part returns the part of p to read at a time.
func (l *RateLimit) Part(p []byte) []byte {
	if l == nil {
		return p
	}
	return p[:min(int64(len(p)), max(l.rate/readsASecond, 4<<10))]
}

// Wait waits until n more bytes may have been read. Time in which nothing was
// read is not made up for.
func (l *RateLimit) Wait(ctx context.Context, n int) error {
	if l == nil || n <= 0 {
		return nil
	}
	l.mu.Lock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(n) / float64(l.rate) * float64(time.Second)))
	pause := l.free.Sub(now)
	l.mu.Unlock()
	if par.Sleep(ctx, pause) != nil {
		return ctx.Err()
	}
	return nil
}
