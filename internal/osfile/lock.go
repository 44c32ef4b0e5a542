package osfile

import (
	"fmt"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/storage"
)

// Lock opens and locks a file. A process that leaves no trace may remove it between
// the two: then it starts over.
func Lock(path string, perm os.FileMode, lock func(*os.File) error) (*os.File, error) {
	if err := RefuseLink(path); err != nil {
		return nil, err
	}
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, perm)
		if err != nil {
			return nil, fmt.Errorf("lock the output directory: %w", err)
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		locked, err := f.Stat()
		if err == nil {
			var named os.FileInfo
			if named, err = os.Stat(path); err == nil && os.SameFile(locked, named) {
				return f, nil
			}
		}
		f.Close()
		if err != nil && !storage.Missing(err) {
			return nil, fmt.Errorf("lock the output directory: %w", err)
		}
	}
}

// Exists reports whether something has the path. A symbolic link does, wherever
// it leads.
func Exists(path string) (bool, error) {
	err := inject.Fault("stat", path)
	if err == nil {
		_, err = os.Lstat(path)
	}
	if storage.Missing(err) {
		return false, nil
	}
	return err == nil, err
}
