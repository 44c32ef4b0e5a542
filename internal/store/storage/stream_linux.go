package storage

import "golang.org/x/sys/unix"

// abandoned reports whether a FIFO has had writers since it was opened, and all of them have closed
// it.
func abandoned(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n == 1 && p[0].Revents&(unix.POLLHUP|unix.POLLIN) == unix.POLLHUP
}
