//go:build unix

package regular

import (
	"os"
	"syscall"
)

// OpenNonblocking opens a file for reading without waiting for the writer of a
// FIFO.
func OpenNonblocking(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
