package compare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// File compares the bytes written to it with a file.
type File struct {
	*Writer
	f storage.File // nil: it does not exist, and everything differs
}

// Open opens the file at path to be compared with. It need not exist.
func Open(ctx context.Context, path string) (*File, error) {
	f, err := recordscan.Open(ctx, path)
	if storage.Missing(err) {
		return &File{Writer: NewWriter(nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &File{NewWriter(&recordscan.Meter{Context: ctx, File: f}), f}, nil
}

// Missing reports whether the file does not exist.
func (c *File) Missing() bool { return c.f == nil }

// Stat describes the file, which is not missing.
func (c *File) Stat() (os.FileInfo, error) { return c.f.Stat() }

// Close closes the file.
func (c *File) Close() {
	if c.f != nil {
		c.f.Close() // it was only read
	}
}

// SameContent reports whether two files, which may be the same, have the same content. It returns
// false if b is not a regular file, such as a link.
func SameContent(ctx context.Context, a, b string) (bool, error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer f.Close()
	first, err := f.Stat()
	if err != nil {
		return false, err
	}
	second, err := os.Lstat(b)
	if err != nil || !second.Mode().IsRegular() {
		return false, err
	}
	if os.SameFile(first, second) || first.Size() != second.Size() {
		return first.Size() == second.Size(), nil
	}
	c, err := Open(ctx, b)
	if err != nil {
		return false, err
	}
	defer c.Close()
	if _, err := io.Copy(c, f); err != nil {
		return false, err
	}
	return c.Equal()
}

// HasHash reports whether a file has this size and SHA-256, in hexadecimal digits. It reads a file of
// this size.
func HasHash(ctx context.Context, at storage.Location, size int64, sum string) (bool, error) {
	f, err := at.Open(ctx)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() != size {
		return false, err
	}
	h := sha256.New()
	// Neither may bring its own, smaller buffer.
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	return err == nil && n == size && hex.EncodeToString(h.Sum(nil)) == sum, err
}
