//go:build unix

package setdir

import (
	"os"
	"syscall"
)

// ownFile reports whether a file belongs to the user of this process.
func ownFile(path string) (bool, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	return !ok || int(owner.Uid) == os.Geteuid(), nil
}
