package inflate

import "io"

// Source gives compressed data piece by piece.
type Source interface {
	// Piece returns the next piece of the data, which stays unchanged until the next call. It may be
	// empty. At the end of the data it returns io.EOF, without data.
	Piece() ([]byte, error)
}

// File is a Source that reads a file, by pieces of the length of Buffer.
type File struct {
	Buffer []byte
	r      io.Reader
	err    error
}

// Reset begins a file.
func (f *File) Reset(r io.Reader) { f.r, f.err = r, nil }

// Piece returns what one call of Read gives.
func (f *File) Piece() ([]byte, error) {
	for range 100 {
		if f.err != nil {
			return nil, f.err
		}
		var n int
		if n, f.err = f.r.Read(f.Buffer); n > 0 {
			return f.Buffer[:n], nil
		}
	}
	if f.err == nil {
		f.err = io.ErrNoProgress
	}
	return nil, f.err
}
