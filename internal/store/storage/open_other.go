//go:build !unix

package storage

import (
	"context"
	"io"
	"os"
)

// stream is an open pipe or device.
type stream struct {
	*os.File
	ctx context.Context
}

func openStream(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &stream{f, ctx}, nil
}

// WriteTo hides os.File's, which doesn't look at the context.
func (s *stream) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

func (s *stream) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, ended(s.ctx, s.Name())
	}
	return s.File.Read(p)
}
