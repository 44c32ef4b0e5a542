//go:build linux || darwin

package setdir

import (
	"golang.org/x/sys/unix"
)

// Free returns how many bytes can be written into the directory; false where that is
// not known.
func (d *Dir) Free() (int64, bool) {
	var st unix.Statfs_t
	if d.Remote() || unix.Statfs(d.path, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
