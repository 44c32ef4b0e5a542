//go:build unix

package reader

import (
	"errors"
	"syscall"
)

// isFull reports whether err says that nothing more can be written: the disk, the
// quota or the limit on the size of files is used up.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
