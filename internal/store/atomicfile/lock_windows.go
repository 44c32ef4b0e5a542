package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes an exclusive lock on the open file f without waiting. The lock ends with the process,
// even if it is killed. It returns ErrLocked when another process holds any lock on it.
func Lock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// LockShared takes a lock that any number of processes may hold together. It
// returns ErrLocked when another process holds an exclusive one.
func LockShared(f *os.File) error { return lock(f, 0) }

func lock(f *os.File, how uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
