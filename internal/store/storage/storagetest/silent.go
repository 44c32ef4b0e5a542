package storagetest

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Silent is a storage.Store that stops answering: requests to it, and to what it has
// opened, wait until their context is done.
type Silent struct {
	storage.Store

	mu      sync.Mutex
	answers int
	asked   int
	silence chan struct{}
}

// NewSilent returns a store that answers the first requests as s does, and none after
// them.
func NewSilent(s storage.Store, answers int) *Silent {
	return &Silent{Store: s, answers: answers, silence: make(chan struct{})}
}

// Silence returns a channel that is closed when the first request is not answered.
func (s *Silent) Silence() <-chan struct{} { return s.silence }

// Asked returns the number of requests so far.
func (s *Silent) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// answer returns when a request is to be answered, with an error if it never is.
func (s *Silent) answer(ctx context.Context) error {
	s.mu.Lock()
	s.asked++
	silent := s.asked > s.answers
	if s.asked == s.answers+1 {
		close(s.silence)
	}
	s.mu.Unlock()
	if !silent {
		return nil
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// List implements storage.Store.
func (s *Silent) List(ctx context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	return func(yield func(storage.Object, error) bool) {
		if err := s.answer(ctx); err != nil {
			yield(storage.Object{}, err)
			return
		}
		s.Store.List(ctx, prefix, deep)(yield)
	}
}

// Stat implements storage.Store.
func (s *Silent) Stat(ctx context.Context, name string) (storage.Object, error) {
	if err := s.answer(ctx); err != nil {
		return storage.Object{}, err
	}
	return s.Store.Stat(ctx, name)
}

// Open implements storage.Store. The first read of a body is a request of its own.
func (s *Silent) Open(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, storage.Object, error) {
	if err := s.answer(ctx); err != nil {
		return nil, storage.Object{}, err
	}
	body, is, err := s.Store.Open(ctx, name, version, offset, length)
	if err != nil {
		return nil, is, err
	}
	return &silentBody{ReadCloser: body, ctx: ctx, store: s}, is, nil
}

// silentBody is a body whose first read may wait.
type silentBody struct {
	io.ReadCloser
	ctx   context.Context // of the request that the body answers
	store *Silent
	begun bool
}

func (b *silentBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		if err := b.store.answer(b.ctx); err != nil {
			return 0, err
		}
	}
	return b.ReadCloser.Read(p)
}
