package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// takenError is the error for a path that a run must not write. It unwraps to fs.ErrExist.
type takenError struct{ path, problem, remedy string }

func (e *takenError) Error() string { return fmt.Sprintf("%s %s: %s", e.path, e.problem, e.remedy) }

func (e *takenError) Unwrap() error { return fs.ErrExist }

const (
	rename         = "choose another name"
	removeOrRename = "remove it, or choose another name"
)

// Differs returns the error for an existing file or directory that differs from the output of the run.
// It unwraps to fs.ErrExist. The detail, which may be empty, names a difference.
func Differs(path, detail string) error {
	if detail != "" {
		detail = " (" + detail + ")"
	}
	return &takenError{path, "exists and is not what this run would write" + detail, removeOrRename}
}

// Find reports whether a file exists at a path where a run wants to write one. It returns an error if
// none can be written there: the path is a directory or a link to a missing file, its directory does
// not exist, or it is a URL with file://.
func Find(ctx context.Context, path string) (bool, error) {
	at := storage.Parse(path)
	if !at.Remote() {
		if err := at.CheckOutput(); err != nil {
			return false, err
		}
	}
	st, err := at.Stat(ctx)
	switch {
	case storage.Missing(err) && at.Remote():
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return false, &takenError{path, "is a dangling link", removeOrRename}
		}
		return false, atomicfile.CheckDirectory(path)
	case err != nil:
		return false, err
	case st.IsDir():
		return false, &takenError{path, "exists and is a directory", rename}
	case !st.Mode().IsRegular():
		return false, &takenError{path, "exists and is not a regular file", rename}
	}
	return true, nil
}

// FindLocal is Find for runs that write local files only: a URL is an error.
func FindLocal(ctx context.Context, path string) (bool, error) {
	if err := storage.CheckOutput(path); err != nil {
		return false, err
	}
	return Find(ctx, path)
}

// MustBeFree returns an error if a local path has anything at it, a dangling link included.
func MustBeFree(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return Differs(path, "")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// MustBegin returns an error unless an existing file begins with these bytes, as the output of the run
// does. It saves the work of a run that would fail in Put.
func MustBegin(ctx context.Context, path, begins string) error {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	first := make([]byte, len(begins))
	n, err := io.ReadFull(f, first)
	switch {
	case err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(first[:n]) != begins:
		return Differs(path, "")
	}
	return nil
}

// NotInput returns an error if a path names one of the files that a run reads, directly or through a
// link. It need not exist.
func NotInput(ctx context.Context, path string, inputs ...string) error {
	remote := storage.Remote(path)
	var there fs.FileInfo
	if !remote {
		var err error
		if there, err = os.Stat(path); err != nil {
			return nil // a new file
		}
	}
	for _, in := range inputs {
		if storage.Remote(in) != remote {
			continue
		}
		same := remote && storage.Clean(in) == storage.Clean(path)
		if !remote {
			st, err := storage.Stat(ctx, in)
			same = err == nil && os.SameFile(st, there)
		}
		if same {
			return &takenError{path, "is one of the inputs", rename}
		}
	}
	return nil
}

// Put writes a file or an object atomically. Without overwrite, one that exists must have these
// contents.
func Put(ctx context.Context, path string, data []byte, overwrite bool) error {
	at := storage.Parse(path)
	if !at.Remote() {
		if _, err := os.Lstat(path); err == nil && !overwrite {
			return mustBe(ctx, path, data)
		}
		return atomicfile.Write(filepath.Dir(path), path, data)
	}
	store, name, err := at.Store(ctx)
	if err != nil {
		return err
	}
	_, err = storage.Put(ctx, store, name, data, storage.CreateOptions{Replace: overwrite})
	if errors.Is(err, fs.ErrExist) {
		return mustBe(ctx, path, data)
	}
	return err
}

// mustBe returns an error unless a file or an object has these contents.
func mustBe(ctx context.Context, path string, data []byte) error {
	if has, err := Has(ctx, path, data); has || err != nil {
		return err
	}
	return Differs(path, "")
}

// Has reports whether a file or an object, which must exist, has these contents.
func Has(ctx context.Context, path string, data []byte) (bool, error) {
	there, err := storage.ReadFile(ctx, path, int64(len(data)))
	if errors.Is(err, regular.ErrTooLarge) {
		return false, nil
	}
	return err == nil && bytes.Equal(there, data), err
}
