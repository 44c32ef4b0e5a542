package osfile

import (
	"hash"
	"io"

	"github.com/tfrec/tfrec/internal/store/sha256pair"
)

// HashWriter writes to To and hashes the same bytes.
type HashWriter struct {
	To    io.Writer
	Sum   hash.Hash
	Bytes int64
	Aside bool              // hash in another goroutine
	queue *sha256pair.Queue // of what WriteLent was given; nil before the first
}

// hashAside is the minimum write size for hashing in another goroutine during the write: hashing
// takes longer than a write that only goes to memory.
const hashAside = 64 << 10

func (s *HashWriter) Write(p []byte) (int, error) {
	if s.queue != nil {
		s.queue.Flush()
	}
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

// WriteLent is Write for p that must not change until done is called, from any goroutine: if other
// files are being written, p may be hashed later, together with data for one of them. Sum must be a
// hash of package crypto/sha256, and is complete after Finish.
func (s *HashWriter) WriteLent(p []byte, done func()) (int, error) {
	if s.Aside || !sha256pair.Together() {
		defer done()
		return s.Write(p)
	}
	if s.queue == nil {
		s.queue = sha256pair.NewQueue(s.Sum)
	}
	n, err := s.To.Write(p)
	s.Bytes += int64(n)
	s.queue.Add(p, done)
	return n, err
}

// Finish hashes what WriteLent has left for later.
func (s *HashWriter) Finish() {
	if s.queue != nil {
		s.queue.Flush()
		s.Abort()
	}
}

// Abort returns what WriteLent was given, without hashing it. It does nothing after Finish.
func (s *HashWriter) Abort() {
	if s.queue != nil {
		s.queue.Close()
		s.queue = nil
	}
}
