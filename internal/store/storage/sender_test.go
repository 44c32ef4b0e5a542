package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
)

// sender is a Sender into memory that can be made to fail.
type sender struct {
	// fault answers a request before it is carried out, lost one that has been.
	fault, lost func(request string) error
	hang        func(context.Context) // in each request with a body, if not nil
	taken       bool                  // there is an object of that name already

	mu       sync.Mutex
	parts    map[int][]byte
	made     []byte // by this sender; nil when it has made none
	finished bool
	begun    int
	discards int
	requests []string
	now      int // parts on their way
	most     int
}

func (s *sender) before(request string) error {
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	if s.fault != nil {
		return s.fault(request)
	}
	return nil
}

func (s *sender) after(request string) error {
	if s.lost != nil {
		return s.lost(request)
	}
	return nil
}

func (s *sender) take(ctx context.Context, data *Payload) ([]byte, error) {
	if s.hang != nil {
		s.hang(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	io.Copy(io.Discard, data) // as for a signature
	if _, err := data.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	got := make([]byte, data.Len())
	_, err := io.ReadFull(data, got)
	return got, err
}

func (s *sender) make(data []byte) (Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken {
		return Object{}, fs.ErrExist
	}
	s.made, s.taken = data, true
	return Object{Name: "x", Size: int64(len(data))}, nil
}

func (s *sender) Put(ctx context.Context, data *Payload) (Object, error) {
	if err := s.before("put"); err != nil {
		return Object{}, err
	}
	got, err := s.take(ctx, data)
	if err != nil {
		return Object{}, err
	}
	is, err := s.make(got)
	if err == nil {
		err = s.after("put")
	}
	return is, err
}

func (s *sender) Begin(context.Context) error {
	if err := s.before("begin"); err != nil {
		return err
	}
	s.begun++
	s.parts = map[int][]byte{}
	return s.after("begin")
}

func (s *sender) Part(ctx context.Context, n int, offset int64, data *Payload, last bool) error {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	if err := s.before("part"); err != nil {
		return err
	}
	got, err := s.take(ctx, data)
	if err != nil {
		return err
	}
	if offset != int64(n)*firstSent {
		return fmt.Errorf("part %d at %d: %w", n, offset, errors.ErrUnsupported)
	}
	s.mu.Lock()
	s.parts[n] = got
	s.mu.Unlock()
	return s.after("part")
}

func (s *sender) Finish(context.Context) (Object, error) {
	if err := s.before("finish"); err != nil {
		return Object{}, err
	}
	if s.finished {
		return Object{}, ErrGone
	}
	var all []byte
	for n := range len(s.parts) {
		all = append(all, s.parts[n]...)
	}
	is, err := s.make(all)
	if err == nil {
		s.finished = true
		err = s.after("finish")
	}
	return is, err
}

func (s *sender) Discard(ctx context.Context) error {
	if err := s.before("discard"); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.discards++
	return nil
}

func (s *sender) FindOwn(context.Context) (Object, error) {
	if err := s.before("mine"); err != nil {
		return Object{}, err
	}
	if s.made == nil {
		return Object{}, fs.ErrNotExist
	}
	return Object{Name: "x", Size: int64(len(s.made))}, nil
}

func random(size int) []byte {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(data)
	return data
}

// send writes data in pieces, and commits.
func send(ctx context.Context, s *sender, data []byte) (Object, error) {
	u := NewUpload(ctx, "mem://bucket/x", s, AtOnce)
	defer u.Abort()
	for piece := range slices.Chunk(data, 3_000_001) {
		if _, err := u.Write(piece); err != nil {
			return Object{}, err
		}
	}
	return u.Commit()
}
