//go:build !unix

package stages

import (
	"errors"
	"syscall"
)

// diskFull is Windows' ERROR_DISK_FULL.
const diskFull = syscall.Errno(112)

// isFull reports whether err means that nothing more can be written.
func isFull(err error) bool { return errors.Is(err, diskFull) }
