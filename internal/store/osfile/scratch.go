package osfile

import (
	"context"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
)

// Scratch is a temporary file that is already unlinked, so that nothing remains of it even if the
// process is killed. On systems that cannot unlink open files, Close removes it.
type Scratch struct{ File }

// NewScratch makes a Scratch of f, with the faults that tests inject through ctx.
func NewScratch(ctx context.Context, f *os.File) *Scratch {
	os.Remove(f.Name()) // Close tries again
	return &Scratch{NewFile(ctx, f)}
}

// ScratchIn creates a Scratch in a directory, by default os.TempDir.
func ScratchIn(ctx context.Context, dir string) (*Scratch, error) {
	if err := inject.Fault(ctx, "create", dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "tfrec-*")
	if err != nil {
		return nil, err
	}
	return NewScratch(ctx, f), nil
}

func (f *Scratch) Close() error {
	err := f.File.Close()
	os.Remove(f.Name()) // usually removed already
	return err
}
