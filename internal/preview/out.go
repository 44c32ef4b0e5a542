package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
)

// Beginnings of what a run writes.
const (
	pageBegins  = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\""
	sheetBegins = "\x89PNG\r\n\x1a\n"
)

// checkFree returns an error if out cannot be written. Without overwrite, a file that begins like
// what this run makes may be just that, written by a run that was killed before it said so: put
// compares them.
func checkFree(ctx context.Context, out, begins string, overwrite bool) error {
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
			return mayBeOurs(ctx, out, begins)
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
		return mayBeOurs(ctx, out, begins)
	}
	return nil
}

// mayBeOurs returns an error unless an existing file begins like what this run makes.
func mayBeOurs(ctx context.Context, out, begins string) error {
	f, err := storage.Open(ctx, out)
	if err != nil {
		return err
	}
	defer f.Close()
	first := make([]byte, len(begins))
	if _, err := io.ReadFull(f, first); err != nil || string(first) != begins {
		return errExists(out)
	}
	return nil
}

func errExists(out string) error {
	return fmt.Errorf("%s exists and is not what this run makes: remove it, or choose another name", out)
}

// put writes a file or an object, all of it or nothing. Without overwrite, what exists must be the
// same.
func put(ctx context.Context, out string, data []byte, overwrite bool) error {
	at := storage.Parse(out)
	if !at.Remote() {
		if _, err := os.Lstat(out); err == nil && !overwrite {
			return mustBe(ctx, out, data)
		}
		return atomicfile.Write(filepath.Dir(out), out, data)
	}
	store, name, err := at.Store(ctx)
	if err != nil {
		return err
	}
	_, err = storage.Put(ctx, store, name, data, storage.CreateOptions{Replace: overwrite})
	if errors.Is(err, fs.ErrExist) {
		return mustBe(ctx, out, data)
	}
	return err
}

// mustBe returns an error unless a file or an object has these contents.
func mustBe(ctx context.Context, out string, data []byte) error {
	there, err := storage.ReadFile(ctx, out, int64(len(data)))
	if err != nil || !bytes.Equal(there, data) {
		return errExists(out)
	}
	return nil
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
