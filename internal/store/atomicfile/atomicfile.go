// Package atomicfile writes files atomically: the bytes are written under another name, synced, and
// renamed; then the directory is synced, so that after a crash the file is complete or does not
// exist.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write puts data at path. The temporary file is made in
// tempDir, which must be on path's file system and exist.
func Write(tempDir, path string, data []byte) error {
	f, err := os.CreateTemp(tempDir, filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err := Fill(f, path, data); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Fill writes data to the temporary file f and renames it as [Rename] does. After an error f is gone.
func Fill(f *os.File, path string, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = Rename(f, path)
	}
	if err != nil {
		Discard(f)
	}
	return err
}

// Place syncs and closes f and renames it to path, replacing an existing file. The file gets the
// usual mode of a new file: 0666 without the umask. After an error f still has its temporary name,
// unless only syncing the directory failed; Discard removes it.
func Place(f *os.File, path string) error {
	if err := Rename(f, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Rename is Place for one of many files. It does not sync the directory: call SyncDir once for all
// of them, before anything else refers to them.
func Rename(f *os.File, path string) error {
	if err := f.Chmod(Mode(0o666)); err != nil {
		return err
	}
	return Commit(f, path)
}

// Commit is Rename for a file that has the mode that it is to have.
func Commit(f *os.File, path string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Discard closes and removes a temporary file. It is safe after Place failed.
func Discard(f *os.File) {
	f.Close() // it may be closed already, and the file is removed
	os.Remove(f.Name())
}

// MkdirAll creates a directory and its parents, and syncs each directory in which one was created,
// so that new directories are as durable as files placed in them.
func MkdirAll(path string, perm os.FileMode) error {
	st, err := os.Stat(path)
	switch {
	case err == nil && !st.IsDir():
		return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	return Mkdir(path, perm)
}

// Mkdir makes one directory, which may exist, and syncs the one that it is in.
func Mkdir(path string, perm os.FileMode) error {
	if err := os.Mkdir(path, perm); err != nil {
		if st, statErr := os.Lstat(path); statErr == nil && st.IsDir() {
			return nil
		}
		return err
	}
	err := SyncDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) {
		return nil // it may be written to and not be read, so it cannot be synced
	}
	return err
}

// CheckDirectory returns an error unless the parent directory of path exists.
func CheckDirectory(path string) error {
	dir := filepath.Dir(path)
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		return fmt.Errorf("the output directory: %w", err)
	}
	return nil
}

// Remove deletes path and syncs its directory. A file that is not there is fine.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in dir durable. Where directories cannot be synced
// (Windows), renames are durable enough by themselves and it does nothing.
func SyncDir(dir string) error {
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("locked by another process")
