package storage

import "golang.org/x/sys/unix"

// abandoned reports whether somebody had a FIFO open for writing since it was opened,
// and nobody has any more.
func abandoned(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == nil && n == 1 && p[0].Revents&(unix.POLLHUP|unix.POLLIN) == unix.POLLHUP
}
