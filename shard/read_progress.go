package shard

import (
	"context"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/set/recordscan"
)

// ReadProgress counts the bytes of files that a run has read. Its fields may be read during the
// run.
type ReadProgress struct {
	// Planned is the number of bytes to read; 0 until known.
	Planned atomic.Int64
	// Done is the number of bytes read. It may exceed Planned, because damaged regions are also
	// searched.
	Done atomic.Int64
}

// Plan adds the sizes of the files at paths to Planned.
func (p *ReadProgress) Plan(ctx context.Context, paths ...string) {
	if p != nil {
		p.Planned.Add(recordscan.TotalSize(ctx, paths...))
	}
}

// Add adds n bytes to Done. It does nothing if p is nil.
func (p *ReadProgress) Add(n int) {
	if p != nil {
		p.Done.Add(int64(n))
	}
}

// Counter returns the counter for a Meter; nil if p is nil.
func (p *ReadProgress) Counter() *atomic.Int64 {
	if p == nil {
		return nil
	}
	return &p.Done
}
