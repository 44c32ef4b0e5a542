//go:build unix

package cpuload

import (
	"time"

	"golang.org/x/sys/unix"
)

// Used returns the processor time that this process has used; 0 if it is unknown, as on Windows.
func Used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
