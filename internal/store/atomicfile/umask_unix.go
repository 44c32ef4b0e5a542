//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// umask is the process's. It can only be read by setting it, which is done
// before there is a goroutine that could make a file meanwhile.
var umask = func() os.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return os.FileMode(mask)
}()

// Mode returns the mode of a new file or directory that is created with perm.
func Mode(perm os.FileMode) os.FileMode { return perm &^ umask }
