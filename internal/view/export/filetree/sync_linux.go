package filetree

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncTree makes all below a directory durable, with one call for the file system
// in place of one for each file.
func syncTree(root *os.Root, _ string) (err error) {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(d.Fd())))
}
