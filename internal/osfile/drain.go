package osfile

import (
	"os"
)

// Drained is a file that is written from its start to its end, and goes to the disk as it is
// written.
type Drained struct {
	F     *os.File
	bytes int64 // written
	begun int64 // bytes whose write-back has been asked for
}

// writeBack is how much is written between two requests for write-back.
const writeBack = 8 << 20

func (d *Drained) Write(p []byte) (int, error) {
	n, err := File{File: d.F}.Write(p)
	d.bytes += int64(n)
	if d.bytes-d.begun >= writeBack {
		beginWriteBack(d.F, d.begun, d.bytes-d.begun)
		d.begun = d.bytes
	}
	return n, err
}
