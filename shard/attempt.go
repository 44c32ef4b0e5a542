package shard

import (
	"context"
	"io/fs"
	"os"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
)

// attempt is asked before each operation on the files of a set that is made, and
// on those that it is made from. Tests have it fail to see what is left then; it
// is nil otherwise.
var attempt func(operation string) error

// attempted is the error that an operation on the file at path is to fail with,
// as the system has it: with both.
func attempted(operation, path string) error {
	if attempt == nil {
		return nil
	}
	if err := attempt(operation); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}

// trialReader is a file whose reading is attempted, trialFile one that is also
// written.
type (
	trialReader struct{ storage.File }
	trialFile   struct{ *os.File }
)

func (f trialReader) ReadAt(p []byte, offset int64) (int, error) {
	if err := attempted("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}

func (f trialFile) Write(p []byte) (int, error) {
	if err := attempted("write", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// place puts a temporary file in place, whole.
func place(f *os.File, path string) error {
	if err := attempted("place", path); err != nil {
		return err
	}
	return atomicfile.Place(f, path)
}

// remove removes a file, if it is there.
func remove(path string) error {
	if err := attempted("remove", path); err != nil {
		return err
	}
	return atomicfile.Remove(path)
}

// makeFolder makes a directory beside shards, durably, such as that of their indexes.
// A symbolic link to one is an error.
func makeFolder(path string) error {
	if err := attempted("mkdir", path); err != nil {
		return err
	}
	if err := storage.CheckOutput(path); err != nil {
		return err
	}
	return makeDir(path)
}

// readFile reads a small file.
func readFile(path string) ([]byte, error) {
	if err := attempted("read", path); err != nil {
		return nil, err
	}
	return storage.ReadFile(context.Background(), path, maxManifest)
}
