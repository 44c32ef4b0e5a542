package stages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
)

// LockFile creates a file and locks it. The error is atomicfile.ErrLocked if another process, or
// another run in this one, holds the lock.
func LockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		if err := atomicfile.Lock(f); err != nil {
			f.Close()
			return nil, err
		}
		// The previous holder may have removed it after it was opened here: then this lock is on a
		// file that other processes cannot find.
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

// UnlockFile removes the file, on systems that can remove an open file, and releases the lock.
func UnlockFile(f *os.File) {
	os.Remove(f.Name())
	f.Close()
}

// lock creates and locks a file that describes the cache being filled.
func (h *cacheHeader) lock(path string) (*os.File, error) {
	f, err := LockFile(path)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(h)
	if err == nil {
		err = f.Truncate(0) // of a killed process
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil && !isFull(err) {
		UnlockFile(f)
		return nil, fmt.Errorf("reader: write the cache: %w", err)
	}
	return f, nil // without a text on a full disk, which will show up soon enough
}

// How long a second process waits for the first one to write its text after locking.
const (
	lockTextTries = 10
	lockTextWait  = 5 * time.Millisecond
)

// beingFilled returns an error if another process is filling a cache of something else, according
// to its lock file. An empty file says nothing.
func (h *cacheHeader) beingFilled(path string) (err error) {
	for range lockTextTries {
		other := new(cacheHeader)
		text, failed := os.ReadFile(path)
		if errors.Is(failed, fs.ErrNotExist) {
			return nil // it has finished
		}
		if failed == nil {
			failed = json.Unmarshal(text, other)
		}
		if failed == nil {
			// The text of a killed process may remain for a moment.
			if err = h.alike(other); err == nil {
				return nil
			}
		}
		time.Sleep(lockTextWait)
	}
	if err != nil {
		err = fmt.Errorf("reader: %s: another process is filling it: %w; cache in another directory", path, err)
	}
	return err
}
