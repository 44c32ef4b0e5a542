package recordscan

import (
	"os"

	"golang.org/x/sys/unix"
)

// adviseSequential asks the kernel to read ahead further than it would. It is
// advice: pipes and some file systems know none.
func adviseSequential(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_SEQUENTIAL)
}
