//go:build unix

package cpuload

import (
	"time"

	"golang.org/x/sys/unix"
)

// processTime returns the processor time of this process.
func processTime() (time.Duration, bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
