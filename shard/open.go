package shard

import (
	"context"
	"errors"
	"io"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// Reader reads the records of a file.
type Reader struct {
	*tfrecord.Reader
	file io.Closer
}

// Open opens a regular record file. Errors name it o.Name, or path if that is empty. The caller
// must close the Reader. Reads from an object store fail once ctx is done.
func Open(ctx context.Context, path string, o tfrecord.ReaderOptions) (*Reader, error) {
	f, err := recordscan.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = path
	}
	return &Reader{Reader: tfrecord.NewReader(f, o), file: f}, nil
}

// Close closes the file and frees the resources of the Reader.
func (r *Reader) Close() error {
	return errors.Join(r.Reader.Close(), r.file.Close())
}
