package shard

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// Reader reads the records of one file.
type Reader struct {
	*tfrecord.Reader
	file io.Closer
}

// Open opens a regular file of records. The name in errors is o.Name, or path when
// that is empty. The caller closes the Reader.
func Open(path string, o tfrecord.ReaderOptions) (*Reader, error) {
	f, err := openSequential(context.Background(), path)
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

// Left tells how much of the file is still to be read, so that the buffer for a
// large record need not grow.
func (m *meter) Left() int64 {
	st, err := m.f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0
	}
	at, err := m.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return st.Size() - at
}

// openSequential opens a regular file that will be read from its start to its end.
func openSequential(ctx context.Context, path string) (storage.File, error) {
	return openWith(ctx, path, storage.Open)
}

// openSource is openSequential for what is read only once: a file that is not a
// member of a set may be a pipe.
func openSource(ctx context.Context, s Source) (storage.File, error) {
	if s.Set != nil {
		return openSequential(ctx, s.Path)
	}
	return openWith(ctx, s.Path, storage.OpenStream)
}

func openWith(ctx context.Context, path string, open func(context.Context, string) (storage.File, error)) (storage.File, error) {
	if err := inject.Fault("open", path); err != nil {
		return nil, err
	}
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	if local, ok := f.(*os.File); ok {
		adviseSequential(local)
	}
	return f, nil
}
