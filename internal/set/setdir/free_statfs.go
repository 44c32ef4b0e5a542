//go:build linux || darwin

package setdir

import (
	"golang.org/x/sys/unix"
)

// Free returns the number of bytes available in the directory; false if unknown.
func Free(d *Dir) (int64, bool) {
	var st unix.Statfs_t
	if d.Remote() || unix.Statfs(d.Path(), &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
