//go:build !windows

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// Lock takes an exclusive lock on the open file f without waiting. The lock ends with the process,
// even if it is killed. It returns ErrLocked when another process holds any lock on it.
func Lock(f *os.File) error { return lock(f, syscall.LOCK_EX) }

// LockShared takes a lock that any number of processes may hold together. It
// returns ErrLocked when another process holds an exclusive one.
func LockShared(f *os.File) error { return lock(f, syscall.LOCK_SH) }

func lock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
