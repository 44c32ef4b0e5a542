package storage

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Payload is the body of a request that writes: bytes in memory, which are read as often as signing
// and sending need. It reports progress, and it ends with the request: reads of a transport after
// that are errors, so that the memory can be reused.
type Payload struct {
	mu     sync.Mutex
	data   []byte
	offset int64
	alive  func(time.Duration)
	ended  bool

	speed pace
	since time.Time // of the last read
	sent  int       // by it; 0 if the next one is not of a body under way
}

// Len returns how many bytes there are.
func (p *Payload) Len() int64 { return int64(len(p.data)) }

// Bytes returns the bytes, which must not be used after the request.
func (p *Payload) Bytes() []byte { return p.data }

func (p *Payload) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, errEnded
	}
	if p.sent > 0 {
		if err := p.speed.moved(p.sent, time.Since(p.since)); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.data[min(p.offset, int64(len(p.data))):])
	p.offset += int64(n)
	p.since, p.sent = time.Now(), n
	if p.offset < int64(len(p.data)) {
		p.alive(network.Load().silence)
		return n, nil
	}
	p.alive(network.Load().response())
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Seek implements io.Seeker.
func (p *Payload) Seek(offset int64, whence int) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += p.offset
	case io.SeekEnd:
		offset += int64(len(p.data))
	}
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	p.offset, p.sent = offset, 0
	return offset, nil
}

// Close does nothing: some clients close a body before they send it once more.
func (p *Payload) Close() error { return nil }

// end has all that is read from here on fail.
func (p *Payload) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.data = true, nil
}

var errEnded = errors.New("the request has ended")
