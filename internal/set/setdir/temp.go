package setdir

import (
	"os"

	"github.com/tfrec/tfrec/internal/inject"
)

// TempFile creates a temporary file whose name begins with prefix. The caller closes it. Sweep
// removes it; for a directory in a store the file is local, and Close removes it.
func (d *Dir) TempFile(prefix string) (*os.File, error) {
	if err := inject.Fault(d.ctx, "create", d.Join(prefix)); err != nil {
		return nil, err
	}
	return d.at.Temp(prefix)
}
