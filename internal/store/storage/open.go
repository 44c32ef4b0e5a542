package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/tfrec/tfrec/internal/store/regular"
)

// File is an open file or object. For local paths it is an *os.File.
//
// ReadAt may be called by several goroutines at the same time, Read and Seek by one. Close cancels
// reads in progress.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	// SetReadDeadline with a time in the past cancels reads in progress.
	SetReadDeadline(time.Time) error
	// Stat of an object returns its properties at the time of opening.
	Stat() (fs.FileInfo, error)
	// Name is the path that the file was opened by.
	Name() string
}

// Open opens a regular file or an object for reading. An object is not read any
// further once ctx is done.
//
// Everything else is refused at once with an error that unwraps to
// regular.ErrNotRegular; OpenStream takes pipes.
func Open(ctx context.Context, p string) (File, error) { return Parse(p).Open(ctx) }

// Open is the function Open for a location.
func (l Location) Open(ctx context.Context) (File, error) {
	if !l.Remote() {
		f, err := regular.Open(l.name)
		if err != nil {
			return nil, err // not a File that holds nil
		}
		return f, nil
	}
	f, err := openObject(ctx, l)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: l.String(), Err: err}
	}
	return f, nil
}

// OpenStream is Open for input that is read once, from its beginning to its end,
// and may be a FIFO or a device as well. It does not wait for a FIFO's writer: the
// first Read does. Once ctx is done, Read of a FIFO or a device fails. A Read that is
// waiting then fails too, on systems whose pipes have deadlines.
func OpenStream(ctx context.Context, p string) (File, error) { return Parse(p).OpenStream(ctx) }

// OpenStream is the function OpenStream for a location.
func (l Location) OpenStream(ctx context.Context) (File, error) {
	if l.Remote() {
		return l.Open(ctx)
	}
	st, err := os.Stat(l.name)
	if err != nil {
		return nil, err
	}
	if st.Mode().IsRegular() || st.IsDir() {
		return l.Open(ctx)
	}
	return openStream(ctx, l.name)
}

// ended is the error of reading a stream after its context is done.
func ended(ctx context.Context, path string) error {
	return &fs.PathError{Op: "read", Path: path, Err: context.Cause(ctx)}
}

// Stat returns information about a path. A URL names an object or, if there is none, the directory
// of the objects whose names continue with a slash. Requests to a store end when ctx is done.
func Stat(ctx context.Context, p string) (fs.FileInfo, error) { return Parse(p).Stat(ctx) }

// Stat is the function Stat for a location.
func (l Location) Stat(ctx context.Context) (fs.FileInfo, error) {
	if !l.Remote() {
		return os.Stat(l.name)
	}
	i, err := l.stat(ctx)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: l.String(), Err: err}
	}
	return i, nil
}

func (l Location) stat(ctx context.Context) (fs.FileInfo, error) {
	s, err := l.store(ctx)
	if err != nil {
		return nil, err
	}
	if l.name != "" {
		o, err := Look(ctx, s, l.name)
		if err == nil {
			return info{object: o}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, err := range s.List(ctx, l.directory(), true) {
		if err != nil {
			return nil, err
		}
		return info{Object{Name: l.name}, true}, nil
	}
	if l.name == "" {
		return info{Object{Name: l.host}, true}, nil // an empty store is a directory
	}
	return nil, fs.ErrNotExist
}

// ReadFile returns the contents of a regular file or an object. More than limit
// bytes are an error.
func ReadFile(ctx context.Context, p string, limit int64) ([]byte, error) {
	return Parse(p).ReadFile(ctx, limit)
}

// ReadFile is the function ReadFile for a location.
func (l Location) ReadFile(ctx context.Context, limit int64) ([]byte, error) {
	f, err := l.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular.ReadAll(f, l.path, limit)
}

// IsDir reports whether there is a directory at path.
func IsDir(ctx context.Context, path string) bool {
	st, err := Stat(ctx, path)
	return err == nil && st.IsDir()
}

// Missing reports whether err means that a file does not exist.
func Missing(err error) bool {
	// A path below a file that is not a directory cannot exist.
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
