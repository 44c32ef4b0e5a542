package osfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginWriteBack asks the kernel to start writing a range of f to disk. It is only advice: an error
// means that the final sync takes longer.
func beginWriteBack(f *os.File, offset, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE)
}
