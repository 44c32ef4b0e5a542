// Package input describes the file that a table is read from: its size, time and version when it
// was opened, the hash of its content, and whether it has changed since.
package input

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// File is a file that holds a table. It keeps nothing open, so there may be any number of them. It
// is safe for concurrent use.
type File struct {
	at      storage.Location
	size    int64
	modTime time.Time
	object  storage.Object // what it is in an object store; without a version on disk

	mu     sync.Mutex
	hash   [16]byte
	hashed bool
}

// Look returns the regular file or object at a location.
func Look(ctx context.Context, at storage.Location) (*File, error) {
	f, err := at.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	object, _ := info.Sys().(storage.Object)
	return &File{at: at, size: info.Size(), modTime: info.ModTime(), object: object}, nil
}

// Name is the path or URL of the file.
func (f *File) Name() string { return f.at.Path() }

// Size is the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// ModTime is when the file was last changed.
func (f *File) ModTime() time.Time { return f.modTime }

// Version identifies the content of an object together with its URL; "" on disk.
func (f *File) Version() string { return f.object.Version }

// Remote reports whether every read is a request to an object store.
func (f *File) Remote() bool { return f.object.Version != "" }

// Open opens the file for one pass or call. The error wraps table.ErrChanged if it is not the file
// that Look saw.
func (f *File) Open(ctx context.Context) (storage.File, error) {
	if f.Remote() {
		r, err := f.at.OpenListed(ctx, f.object)
		return r, f.changed(err)
	}
	r, err := f.at.Open(ctx)
	if err != nil {
		return nil, err
	}
	info, err := r.Stat()
	if err == nil && (info.Size() != f.size || !info.ModTime().Equal(f.modTime)) {
		err = table.ErrChanged
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// changed makes the error of a store one of a table.
func (f *File) changed(err error) error {
	if errors.Is(err, storage.ErrChanged) {
		return fmt.Errorf("%w: %w", table.ErrChanged, err)
	}
	return err
}

// Located adds the path to err. An error about an object that was replaced becomes one about a
// changed file. It returns nil for nil, and errors of ended contexts unchanged.
func (f *File) Located(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s: %w", f.Name(), f.changed(err))
}

// ChunkHash identifies the content of rows of the file: by its bytes on disk, which are read the
// first time, and by URL and version in a store, where reading them would cost a download.
func (f *File) ChunkHash(ctx context.Context, firstRow, rows int64) ([16]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.hashed {
		if err := f.hashContent(ctx); err != nil {
			return [16]byte{}, err
		}
		f.hashed = true
	}
	b := binary.LittleEndian.AppendUint64(f.hash[:], uint64(firstRow))
	return xxh3.Hash128(binary.LittleEndian.AppendUint64(b, uint64(rows))).Bytes(), nil
}

func (f *File) hashContent(ctx context.Context) error {
	if f.Remote() {
		f.hash = xxh3.Hash128(fmt.Appendf(nil, "%s %s %d", f.at, f.object.Version, f.size)).Bytes()
		return nil
	}
	r, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	h := xxh3.New()
	buf := make([]byte, min(1<<20, f.size+1))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			f.hash = h.Sum128().Bytes()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Head returns up to n bytes from the beginning of a file.
func Head(r io.ReaderAt, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := r.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}
