//go:build unix

package storage

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner returns an error for a directory that is not this user's own, or that others can write:
// they could put other data into a cache.
func checkOwner(dir string, st fs.FileInfo) error {
	if s, ok := st.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to the user %d: give a directory of your own, as others could change what is cached", dir, s.Uid)
	}
	if mode := st.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("other users can write to %s (mode %04o), and could change what is cached: chmod go-w %s", dir, mode, dir)
	}
	return nil
}
