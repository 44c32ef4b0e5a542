//go:build unix

package stages

import (
	"errors"
	"syscall"
)

// isFull reports whether err means that nothing more can be written: the disk, the quota or the
// file size limit is exhausted.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
