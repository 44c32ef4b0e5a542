package osfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriteBack makes the kernel start writing a range of f to disk. It is only advice: an error
// means that the final sync takes longer.
func beginWriteBack(f *os.File, offset, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE)
}

// dropWritten waits until a range of f is on disk, and removes it from the page cache. Where that is
// not supported, such as in a file system in memory, the range stays there. An error of the disk is
// returned: a later sync of f does not report it again.
func dropWritten(f *os.File, offset, n int64) error {
	const write = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	switch err := unix.SyncFileRange(int(f.Fd()), offset, n, write); err {
	case nil:
		_ = unix.Fadvise(int(f.Fd()), offset, n, unix.FADV_DONTNEED) // advice
	case unix.EIO, unix.ENOSPC, unix.EDQUOT:
		return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	return nil
}
