package atomicfile

import (
	"io/fs"
	"os"
)

// Like gives f the mode of other. Owners are left to the directory's rules.
func Like(f *os.File, other fs.FileInfo) (owned bool, err error) {
	return true, f.Chmod(other.Mode().Perm())
}
