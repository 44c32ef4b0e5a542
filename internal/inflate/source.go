package inflate

import "io"

// Source gives compressed data piece by piece.
type Source interface {
	// Piece returns the next piece of the data, which stays unchanged until the next call. It may be
	// empty. At the end of the data it returns io.EOF, without data.
	Piece() ([]byte, error)
}

// Bytes is a Source that has all data in one piece.
type Bytes []byte

// Piece returns the data, and io.EOF from the second call on.
func (b *Bytes) Piece() ([]byte, error) {
	piece := *b
	if piece == nil {
		return nil, io.EOF
	}
	*b = nil
	return piece, nil
}
