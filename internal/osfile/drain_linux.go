package osfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriteBack asks the kernel to start writing a range of f to disk. It is
// advice: an error means only that the sync at the end takes longer.
func beginWriteBack(f *os.File, offset, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE)
}
