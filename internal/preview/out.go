package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
)

// checkFree returns an error if out cannot be written.
func checkFree(ctx context.Context, out string, overwrite bool) error {
	if storage.Remote(out) {
		st, err := storage.Stat(ctx, out)
		switch {
		case storage.Missing(err):
			return nil
		case err != nil:
			return err
		case st.IsDir():
			return fmt.Errorf("%s exists and is a directory: choose another name", out)
		case !overwrite:
			return errExists(out)
		}
		return nil
	}
	if err := storage.CheckOutput(out); err != nil {
		return err
	}
	st, err := os.Stat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(out); err == nil {
			return fmt.Errorf("%s is a dangling link: remove it, or choose another name", out)
		}
		return atomicfile.CheckDirectory(out)
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s exists and is not a regular file: choose another name", out)
	case !overwrite:
		return errExists(out)
	}
	return nil
}

func errExists(out string) error {
	return fmt.Errorf("%s exists: remove it, or choose another name", out)
}

// put writes a file or an object, all of it or nothing.
func put(ctx context.Context, out string, data []byte, overwrite bool) error {
	at := storage.Parse(out)
	if !at.Remote() {
		return atomicfile.Write(filepath.Dir(out), out, data)
	}
	store, name, err := at.Store(ctx)
	if err != nil {
		return err
	}
	_, err = storage.Put(ctx, store, name, data, storage.CreateOptions{Replace: overwrite})
	if errors.Is(err, fs.ErrExist) {
		// It may be ours, if the response to a request was lost.
		if there, err := at.ReadFile(ctx, int64(len(data))); err == nil && bytes.Equal(there, data) {
			return nil
		}
		return errExists(out)
	}
	return err
}

// checkInput refuses to put the page where an input lies.
func (c *contents) checkInput(ctx context.Context, out string) error {
	if storage.Remote(out) {
		for _, f := range c.files {
			if storage.Clean(f.path) == storage.Clean(out) {
				return errInput(out)
			}
		}
		return nil
	}
	there, err := os.Stat(out)
	if err != nil {
		return nil // it does not exist: checkFree checked everything else
	}
	for _, f := range c.files {
		if st, err := storage.Stat(ctx, f.path); err == nil && os.SameFile(st, there) {
			return errInput(out)
		}
	}
	return nil
}

func errInput(out string) error {
	return fmt.Errorf("%s is one of the inputs: choose another name", out)
}
