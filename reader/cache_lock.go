package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

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

// lock makes and locks a file that says what is being filled.
func (h *cacheHeader) lock(path string) (*os.File, error) {
	f, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(h)
	if err == nil {
		err = f.Truncate(0) // of a process that was killed
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil && !isFull(err) {
		unlockFile(f)
		return nil, fmt.Errorf("reader: write the cache: %w", err)
	}
	return f, nil // on a full disk without a text, which is found out soon enough
}

// How long who comes second waits for the text of who locked a file just now.
const (
	lockTextTries = 10
	lockTextWait  = 5 * time.Millisecond
)

// beingFilled returns an error when what somebody else fills just now is something
// else, as the file says that he locked. Without a text nothing is known.
func (h *cacheHeader) beingFilled(path string) (err error) {
	for range lockTextTries {
		other := new(cacheHeader)
		text, failed := os.ReadFile(path)
		if errors.Is(failed, fs.ErrNotExist) {
			return nil // he has finished
		}
		if failed == nil {
			failed = json.Unmarshal(text, other)
		}
		if failed == nil {
			// What a killed process left may stand there for a moment.
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
