// Package osfile reads, writes, places and removes files for the verbs that work on sets. Each
// operation may be made to fail by tests (see internal/inject), and none writes through a
// symbolic link inside a set.
package osfile

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/storage"
)

// Reader is a file that is read.
type Reader struct{ storage.File }

// File is a file that is read and written.
type File struct{ *os.File }

func (f Reader) ReadAt(p []byte, offset int64) (int, error) {
	if err := inject.Fault("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}

func (f File) Write(p []byte) (int, error) {
	if err := inject.Fault("write", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// Place puts a temporary file in place, whole.
func Place(f *os.File, path string) error {
	if err := inject.Fault("place", path); err != nil {
		return err
	}
	return atomicfile.Place(f, path)
}

// Remove removes a file, if it is there.
func Remove(path string) error {
	if err := inject.Fault("remove", path); err != nil {
		return err
	}
	return atomicfile.Remove(path)
}

// MakeOuterDir makes a directory beside shards, durably, such as that of their indexes.
// A symbolic link to one is an error.
func MakeOuterDir(path string) error {
	if err := inject.Fault("mkdir", path); err != nil {
		return err
	}
	if err := storage.CheckOutput(path); err != nil {
		return err
	}
	return MakeDir(path)
}

// Read reads a file of no more bytes than limit.
func Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	if err := inject.Fault("read", path); err != nil {
		return nil, err
	}
	return storage.ReadFile(ctx, path, limit)
}

// MakeDir makes a directory, durably, unless it exists. A symbolic link to one is an
// error.
func MakeDir(path string) error {
	st, err := os.Lstat(path)
	switch {
	case storage.Missing(err):
		return atomicfile.Mkdir(path, 0o755)
	case err != nil || st.IsDir():
		return err
	case st.Mode().Type() == fs.ModeSymlink:
		return LinkError(path)
	}
	return fmt.Errorf("%s is not a directory: move it elsewhere", path)
}

// RefuseLink returns an error when there is a symbolic link at the path.
func RefuseLink(path string) error {
	st, err := os.Lstat(path)
	if storage.Missing(err) {
		return nil
	}
	if err == nil && st.Mode().Type() == fs.ModeSymlink {
		err = LinkError(path)
	}
	return err
}

func LinkError(path string) error {
	return fmt.Errorf("%s is a symbolic link, and tfrec does not write through links inside a set: replace it with a directory", path)
}
