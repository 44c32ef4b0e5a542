// Package osfile reads, writes, renames and removes files for the verbs that work on sets. Tests
// can make each operation fail (see internal/inject), and no operation writes through a symbolic
// link inside a set.
package osfile

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Reader is a file opened for reading.
type Reader struct {
	storage.File
	hook inject.Hook
}

// File is a file opened for reading and writing.
type File struct {
	*os.File
	hook inject.Hook
}

// NewReader returns f with the faults that tests inject through ctx.
func NewReader(ctx context.Context, f storage.File) Reader { return Reader{f, inject.From(ctx)} }

// NewFile returns f with the faults that tests inject through ctx.
func NewFile(ctx context.Context, f *os.File) File { return File{f, inject.From(ctx)} }

func (f Reader) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.hook.Fault("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}

// Refetch fetches again what tfrecord found to be damaged.
func (f Reader) Refetch(p []byte, off int64, good func(p []byte) bool) (bool, error) {
	return storage.Refetch(f.File, p, off, good)
}

// Reread reads again what tfrecord found to be damaged.
func (f Reader) Reread(failed error, read func() error) error {
	return storage.RereadFile(f.File, failed, read)
}

func (f File) Write(p []byte) (int, error) {
	if err := f.hook.Fault("write", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f File) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.hook.Fault("write", f.Name()); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, offset)
}

// Remove removes a file if it exists.
func Remove(ctx context.Context, path string) error {
	if err := inject.Fault(ctx, "remove", path); err != nil {
		return err
	}
	return atomicfile.Remove(path)
}

// MakeOuterDir durably creates a directory next to shards, such as the one for their indexes. A
// symbolic link at path is an error.
func MakeOuterDir(ctx context.Context, path string) error {
	if err := inject.Fault(ctx, "mkdir", path); err != nil {
		return err
	}
	if err := storage.CheckOutput(path); err != nil {
		return err
	}
	return MakeDir(path)
}

// Read returns the content of a file of at most limit bytes.
func Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	if err := inject.Fault(ctx, "read", path); err != nil {
		return nil, err
	}
	return storage.ReadFile(ctx, path, limit)
}

// MakeDir durably creates a directory unless it exists. A symbolic link at path is an error.
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

// RefuseLink returns an error if path is a symbolic link.
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
