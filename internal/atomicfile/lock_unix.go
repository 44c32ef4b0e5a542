//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes an exclusive lock on the open file f without waiting. The lock
// goes with the process: a dead one leaves none behind. It returns ErrLocked
// when another process holds it.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
