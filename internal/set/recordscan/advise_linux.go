package recordscan

import (
	"os"

	"golang.org/x/sys/unix"
)

// adviseSequential advises the kernel to read ahead further than by default. Pipes and some file
// systems ignore it.
func adviseSequential(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_SEQUENTIAL)
}
