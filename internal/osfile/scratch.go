package osfile

import (
	"os"

	"github.com/tfrec/tfrec/internal/inject"
)

// Scratch is a temporary file that is already unlinked, so that nothing remains of it even if the
// process is killed. On systems that cannot unlink open files, Close removes it.
type Scratch struct{ File }

func NewScratch(f *os.File, err error) (*Scratch, error) {
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // Close tries again
	return &Scratch{File{f}}, nil
}

// ScratchIn creates a Scratch in a directory, by default os.TempDir.
func ScratchIn(dir string) (*Scratch, error) {
	if err := inject.Fault("create", dir); err != nil {
		return nil, err
	}
	return NewScratch(os.CreateTemp(dir, "tfrec-*"))
}

func (f *Scratch) Close() error {
	err := f.File.Close()
	os.Remove(f.Name()) // usually removed already
	return err
}
