package shard

import (
	"context"
	"errors"
	"io"

	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// Reader reads the records of one file.
type Reader struct {
	*tfrecord.Reader
	file io.Closer
}

// Open opens a regular file of records. The name in errors is o.Name, or path when
// that is empty. The caller closes the Reader. An object of a store is not read any further
// once ctx is done.
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

// Close closes the file and frees what reads it.
func (r *Reader) Close() error {
	return errors.Join(r.Reader.Close(), r.file.Close())
}
