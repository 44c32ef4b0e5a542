package shard

import (
	"os"

	"github.com/tfrec/tfrec/internal/inject"
)

// TempFile makes a file for work in progress, under a name that begins with
// prefix. Sweep removes it, and of a directory in a store, where it lies on this machine,
// Close; the caller closes it.
func (d *Dir) TempFile(prefix string) (*os.File, error) {
	if err := inject.Fault("create", d.join(prefix)); err != nil {
		return nil, err
	}
	return d.at.temp(prefix)
}

// scratchFile is a temporary file that has lost its name already, so that nothing
// remains of it even when the process is killed. Where open files must have one,
// Close removes it.
type scratchFile struct{ trialFile }

func newScratchFile(f *os.File, err error) (*scratchFile, error) {
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // Close tries again
	return &scratchFile{trialFile{f}}, nil
}

// scratchIn makes a scratchFile in a directory, by default os.TempDir.
func scratchIn(dir string) (*scratchFile, error) {
	if err := inject.Fault("create", dir); err != nil {
		return nil, err
	}
	return newScratchFile(os.CreateTemp(dir, "tfrec-*"))
}

func (f *scratchFile) Close() error {
	err := f.File.Close()
	os.Remove(f.Name()) // it is gone, as a rule
	return err
}
