//go:build !unix

package reader

import (
	"context"
	"io"
	"io/fs"

	"github.com/tfrec/tfrec/internal/storage"
)

// openSource opens a file for reading.
func openSource(ctx context.Context, path string, _ fs.FileMode) (storage.File, error) {
	return storage.Open(ctx, path)
}

// reading returns what reads a file that openSource opened.
func reading(f storage.File, _ fs.FileMode) io.Reader { return f }
