package osfile

import (
	"hash"
	"io"
)

// HashWriter hashes what it writes.
type HashWriter struct {
	To    io.Writer
	Sum   hash.Hash
	Bytes int64
	Aside bool // whether to hash in another goroutine
}

// hashAside is how much is worth hashing in another goroutine while it is
// written: hashing takes longer than a write that only goes to memory.
const hashAside = 64 << 10

func (s *HashWriter) Write(p []byte) (int, error) {
	var n int
	var err error
	if !s.Aside || len(p) < hashAside {
		n, err = s.To.Write(p)
		s.Sum.Write(p)
	} else {
		hashed := make(chan struct{})
		go func() {
			s.Sum.Write(p)
			close(hashed)
		}()
		n, err = s.To.Write(p)
		<-hashed
	}
	s.Bytes += int64(n)
	return n, err
}
