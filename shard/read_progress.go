package shard

import (
	"context"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/recordscan"
)

// ReadProgress counts what a run has read so far, in bytes of the files. Its
// fields may be read while the run goes on.
type ReadProgress struct {
	// Planned is how much there is to read; 0 until that is known.
	Planned atomic.Int64
	// Done is how much was read. It may end beyond Planned, for what is damaged
	// is searched, too.
	Done atomic.Int64
}

// Plan tells the sizes of the files to come.
func (p *ReadProgress) Plan(ctx context.Context, paths ...string) {
	if p != nil {
		p.Planned.Add(recordscan.TotalSize(ctx, paths...))
	}
}

// Add tells that n bytes were read. A nil p takes no notice.
func (p *ReadProgress) Add(n int) {
	if p != nil {
		p.Done.Add(int64(n))
	}
}

// Counter is where a Meter counts what it reads; nil of a nil p.
func (p *ReadProgress) Counter() *atomic.Int64 {
	if p == nil {
		return nil
	}
	return &p.Done
}
