package reader

import (
	"errors"
	"io/fs"
	"os"

	"github.com/tfrec/tfrec/internal/atomicfile"
)

// lockFile makes a file and locks it. The error is atomicfile.ErrLocked when
// another process, or another run of this one, has it.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		if err := atomicfile.Lock(f); err != nil {
			f.Close()
			return nil, err
		}
		// Who had it may have removed it after it was opened here: then the lock
		// is one of a file that nobody else will find.
		held, err := f.Stat()
		if err == nil {
			var named os.FileInfo
			if named, err = os.Stat(path); err == nil && os.SameFile(named, held) {
				return f, nil
			}
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// unlockFile removes the file, where a file in use can be removed, and gives
// the lock back.
func unlockFile(f *os.File) {
	os.Remove(f.Name())
	f.Close()
}
