package setdir

import (
	"os"

	"github.com/tfrec/tfrec/internal/inject"
)

// TempFile makes a file for work in progress, under a name that begins with
// prefix. Sweep removes it, and of a directory in a store, where it lies on this machine,
// Close; the caller closes it.
func (d *Dir) TempFile(prefix string) (*os.File, error) {
	if err := inject.Fault("create", d.Join(prefix)); err != nil {
		return nil, err
	}
	return d.at.temp(prefix)
}
