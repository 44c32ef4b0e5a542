//go:build !linux

package filetree

import (
	"errors"
	"io/fs"
	"os"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
)

// syncTree makes all below a directory durable.
func syncTree(root *os.Root, path string) error {
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := root.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
	return errors.Join(err, atomicfile.SyncDir(path))
}
