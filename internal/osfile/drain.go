package osfile

import (
	"os"
)

// Drained is a file that is written sequentially, and that the kernel writes to disk meanwhile.
type Drained struct {
	F     *os.File
	bytes int64 // written
	begun int64 // bytes for which writeback was requested
}

// writeBack is the number of bytes between two requests for writeback.
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
