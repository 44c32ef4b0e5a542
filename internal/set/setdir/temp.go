package setdir

import (
	"context"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/osfile"
)

// TempFile creates a temporary file whose name begins with prefix. The caller closes it. Sweep
// removes it; for a directory in a store the file is local, and Close removes it.
func (d *Dir) TempFile(prefix string) (*os.File, error) {
	if err := inject.Fault(d.ctx, "create", d.Join(prefix)); err != nil {
		return nil, err
	}
	return d.at.Temp(prefix)
}

// ScratchFile is like TempFile, but nothing remains of the file even if the process is killed. ctx is
// for the faults that tests inject.
func (d *Dir) ScratchFile(ctx context.Context, prefix string) (*osfile.Scratch, error) {
	f, err := d.TempFile(prefix)
	if err != nil {
		return nil, err
	}
	return osfile.NewScratch(ctx, f), nil
}
