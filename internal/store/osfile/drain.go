package osfile

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/inject"
)

// Drained is a file that is written sequentially, and that the kernel writes to disk meanwhile.
type Drained struct {
	F       *os.File
	hook    inject.Hook
	share   *CacheShare
	bytes   int64 // written
	begun   int64 // bytes for which writeback was requested
	dropped int64 // bytes removed from the page cache
}

// CacheShare bounds the written bytes that stay in the page cache, so that a large conversion does
// not evict files that other processes read. Files share it. Nil means no bound.
type CacheShare struct {
	left atomic.Int64
}

// NewCacheShare returns a share of n bytes. Bytes written beyond it leave the page cache as soon as
// they are on disk, where the system supports that (Linux).
func NewCacheShare(n int64) *CacheShare {
	s := &CacheShare{}
	s.left.Store(n)
	return s
}

// take takes n bytes of the share, and reports whether it had as many.
func (s *CacheShare) take(n int64) bool { return s == nil || s.left.Add(-n) >= 0 }

const (
	// writeBack is the number of bytes between two requests for writeback.
	writeBack = 8 << 20
	// writeBackLag is the number of bytes before the last request that get time to reach the disk.
	writeBackLag = 4 * writeBack
	// largePage is the largest unit of the page cache, which leaves it as a whole or not at all.
	largePage = 2 << 20
)

// NewDrained returns f, with the faults that tests inject through ctx.
func NewDrained(ctx context.Context, f *os.File, share *CacheShare) *Drained {
	return &Drained{F: f, hook: inject.From(ctx), share: share}
}

func (d *Drained) Write(p []byte) (int, error) {
	n, err := File{d.F, d.hook}.Write(p)
	d.bytes += int64(n)
	if d.bytes-d.begun >= writeBack {
		beginWriteBack(d.F, d.begun, d.bytes-d.begun)
		if !d.share.take(d.bytes-d.begun) && err == nil {
			err = d.drop((d.begun - writeBackLag) &^ (largePage - 1))
		}
		d.begun = d.bytes
	}
	return n, err
}

// Finish removes the file from the page cache if the share is used up. It is called after the last
// Write, before the file is synced.
func (d *Drained) Finish() error {
	if d.share.take(d.bytes - d.begun) {
		return nil
	}
	return d.drop(d.bytes)
}

// drop removes what was written before an offset from the page cache.
func (d *Drained) drop(end int64) error {
	if end <= d.dropped {
		return nil
	}
	from := d.dropped
	d.dropped = end
	return dropWritten(d.F, from, end-from)
}
