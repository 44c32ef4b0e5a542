package shard

import (
	"context"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/compare"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/storage"
)

// comparison compares what is written to it with a file.
type comparison struct {
	*compare.Writer
	f storage.File // nil: there is none, and everything differs
}

// compareWith opens the file at path to be compared with.
func compareWith(ctx context.Context, path string) (*comparison, error) {
	f, err := recordscan.Open(ctx, path)
	if notThere(err) {
		return &comparison{Writer: compare.NewWriter(nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	return &comparison{compare.NewWriter(&recordscan.Meter{Context: ctx, File: f}), f}, nil
}

func (c *comparison) missing() bool { return c.f == nil }

func (c *comparison) close() {
	if c.f != nil {
		c.f.Close() // it was only read
	}
}

// sameContent compares two files, which may be one. What is not a regular file at b is
// another, a link among them.
func sameContent(a, b string) (bool, error) {
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
	c, err := compareWith(context.Background(), b)
	if err != nil {
		return false, err
	}
	defer c.close()
	if _, err := io.Copy(c, f); err != nil {
		return false, err
	}
	return c.Equal()
}
