package osfile

import (
	"context"
	"fmt"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Lock opens and locks a file. Another process that cleans up may remove the file in between: then
// Lock retries.
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

// Exists reports whether the path exists. A symbolic link does, even a dangling one.
func Exists(ctx context.Context, path string) (bool, error) {
	err := inject.Fault(ctx, "stat", path)
	if err == nil {
		_, err = os.Lstat(path)
	}
	if storage.Missing(err) {
		return false, nil
	}
	return err == nil, err
}
