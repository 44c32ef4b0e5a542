// Package regular opens regular files of the local file system, and returns an error at once for
// everything else: opening a FIFO blocks until another process writes to it, where neither a
// context nor a signal can interrupt it, and a device such as /dev/zero has no end.
//
//	f, err := regular.Open(path)
//	data, err := regular.ReadFile(path, 1<<20)
package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular means that a path names a FIFO, a device, a socket or a directory where a regular
// file is wanted.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge means that a file has more bytes than the caller accepts.
var ErrTooLarge = errors.New("larger than the limit")

// Open opens a regular file for reading. Anything else is an error that unwraps to ErrNotRegular.
// It calls stat before it opens the file, because opening a device may have effects, and again
// afterwards, because the file may have been replaced.
func Open(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, st.Mode()); err != nil {
		return nil, err
	}
	f, err := OpenNonblocking(path)
	if err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err == nil {
		err = check(path, st.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// check returns an error that names the kind of a file if it is not regular.
func check(path string, mode fs.FileMode) error {
	kind := "a special file"
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe: copy its contents to a file first"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w but %s", ErrNotRegular, kind)}
}

// ReadFile returns the contents of a regular file. More than limit bytes are an
// error that unwraps to ErrTooLarge.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, limit)
}

// ReadAll returns the contents of an open file. More than limit bytes are an
// ErrTooLarge for path, which is returned before anything is read where the size is known.
func ReadAll(f fs.File, path string, limit int64) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	if st.Size() <= limit {
		data.Grow(int(st.Size()) + bytes.MinRead) // ReadFrom then finds the end without growing it
		if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
			return nil, err
		}
	}
	if max(st.Size(), int64(data.Len())) > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w of %d bytes", ErrTooLarge, limit)}
	}
	return data.Bytes(), nil
}
