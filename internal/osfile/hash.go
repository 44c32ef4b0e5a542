package osfile

import (
	"hash"
	"io"
)

// HashWriter writes to To and hashes the same bytes.
type HashWriter struct {
	To    io.Writer
	Sum   hash.Hash
	Bytes int64
	Aside bool // hash in another goroutine
}

// hashAside is the minimum write size for hashing in another goroutine during the write: hashing
// takes longer than a write that only goes to memory.
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
