package osfile

import (
	"context"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
)

// Drained is a file that is written sequentially, and that the kernel writes to disk meanwhile.
type Drained struct {
	F     *os.File
	hook  inject.Hook
	bytes int64 // written
	begun int64 // bytes for which writeback was requested
}

// writeBack is the number of bytes between two requests for writeback.
const writeBack = 8 << 20

// NewDrained returns f, with the faults that tests inject through ctx.
func NewDrained(ctx context.Context, f *os.File) *Drained {
	return &Drained{F: f, hook: inject.From(ctx)}
}

func (d *Drained) Write(p []byte) (int, error) {
	n, err := File{d.F, d.hook}.Write(p)
	d.bytes += int64(n)
	if d.bytes-d.begun >= writeBack {
		beginWriteBack(d.F, d.begun, d.bytes-d.begun)
		d.begun = d.bytes
	}
	return n, err
}
