package shard

import (
	"context"
	"os"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/storage"
)

// trialReader is a file whose reading may be made to fail, trialFile one that is
// also written.
type (
	trialReader struct{ storage.File }
	trialFile   struct{ *os.File }
)

func (f trialReader) ReadAt(p []byte, offset int64) (int, error) {
	if err := inject.Fault("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}

func (f trialFile) Write(p []byte) (int, error) {
	if err := inject.Fault("write", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// place puts a temporary file in place, whole.
func place(f *os.File, path string) error {
	if err := inject.Fault("place", path); err != nil {
		return err
	}
	return atomicfile.Place(f, path)
}

// remove removes a file, if it is there.
func remove(path string) error {
	if err := inject.Fault("remove", path); err != nil {
		return err
	}
	return atomicfile.Remove(path)
}

// makeFolder makes a directory beside shards, durably, such as that of their indexes.
// A symbolic link to one is an error.
func makeDirectory(path string) error {
	if err := inject.Fault("mkdir", path); err != nil {
		return err
	}
	if err := storage.CheckOutput(path); err != nil {
		return err
	}
	return makeDir(path)
}

// readFile reads a small file.
func readFile(ctx context.Context, path string) ([]byte, error) {
	if err := inject.Fault("read", path); err != nil {
		return nil, err
	}
	return storage.ReadFile(ctx, path, maxManifest)
}
