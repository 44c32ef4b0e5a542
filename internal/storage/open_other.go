//go:build !unix

package storage

import (
	"context"
	"os"
)

// openStream opens a pipe or a device for reading.
func openStream(_ context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}
