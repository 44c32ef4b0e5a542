package storage

import (
	"errors"
	"io/fs"
	"syscall"
)

// Missing reports whether err says that a file does not exist.
func Missing(err error) bool {
	// Below what is not a directory nothing has a name.
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
