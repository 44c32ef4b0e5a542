package shard

import "os"

// TempFile makes a file for work in progress, under a name that begins with
// prefix. Sweep removes it; the caller closes it.
func (d *Dir) TempFile(prefix string) (*os.File, error) {
	if err := attempted("create", d.join(prefix)); err != nil {
		return nil, err
	}
	temp, err := d.tempDir()
	if err != nil {
		return nil, err
	}
	return os.CreateTemp(temp, prefix+".*")
}
