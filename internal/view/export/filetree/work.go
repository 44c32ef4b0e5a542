package filetree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// WorkDirectory makes a directory next to out for work in progress, and removes the work
// directories of killed runs. A directory is locked while its run lives; if directories cannot be
// locked, none is removed. For an output in a store the directory is one of the system's temporary
// ones. done releases the lock; call it after the directory was removed or renamed.
func WorkDirectory(out string) (path string, done func(), err error) {
	if storage.Remote(out) {
		path, err := os.MkdirTemp("", "tfrec-*")
		return path, func() {}, err
	}
	sweep(out)
	for {
		path, err := os.MkdirTemp(filepath.Dir(out), tempPattern(out))
		if err != nil {
			return "", nil, fmt.Errorf("make a directory next to the output: %w", err)
		}
		held, err := lockDirectory(path)
		if err != nil && !errors.Is(err, atomicfile.ErrLocked) {
			return path, func() {}, nil
		}
		if err == nil {
			_, err := os.Stat(path)
			if err == nil {
				return path, func() { held.Close() }, nil
			}
			held.Close()
			if !errors.Is(err, fs.ErrNotExist) {
				return "", nil, errors.Join(err, os.RemoveAll(path))
			}
		}
		// The sweep of another run removed it before it was locked.
	}
}

// sweep removes the directories that killed runs left for an output of that name. What it cannot
// remove is harmless.
func sweep(out string) {
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		return
	}
	prefix := strings.TrimSuffix(tempPattern(out), "*")
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(filepath.Dir(out), e.Name())
		if held, err := lockDirectory(path); err == nil {
			os.RemoveAll(path)
			held.Close()
		}
	}
}

// lockDirectory locks a directory until it is closed.
func lockDirectory(path string) (*os.File, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.ErrUnsupported
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tempPattern is the pattern, for os.MkdirTemp, of the name of work in progress
// for out.
func tempPattern(out string) string {
	base := []rune(strings.ReplaceAll(filepath.Base(out), "*", ""))
	return "." + string(base[:min(len(base), 40)]) + ".exporting-*"
}
