package filetree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"sync"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// StoreFile is an object on its way into a store, which must not have one of that name.
type StoreFile struct {
	ctx   context.Context
	at    storage.Location
	up    storage.Upload
	sum   hash.Hash
	Bytes int64

	made *fileSet // gets the name before the object does
	name string
}

func NewStoreFile(ctx context.Context, at storage.Location) (*StoreFile, error) {
	store, name, err := at.Store(ctx)
	if err != nil {
		return nil, err
	}
	up, err := store.Create(ctx, name, storage.CreateOptions{})
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: at.String(), Err: err}
	}
	return &StoreFile{ctx: ctx, at: at, up: up, sum: sha256.New(), made: new(fileSet)}, nil
}

func (f *StoreFile) Write(p []byte) (int, error) {
	n, err := f.up.Write(p)
	f.sum.Write(p[:n])
	f.Bytes += int64(n)
	return n, err
}

// Commit publishes the object. One that is there already must be the same: it may be this one, if a
// response was lost.
func (f *StoreFile) Commit() error {
	f.made.add(f.name)
	_, err := f.up.Commit()
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	same, err := compare.HasHash(f.ctx, f.at, f.Bytes, hex.EncodeToString(f.sum.Sum(nil)))
	if err == nil && !same {
		f.made.remove(f.name)
		err = compare.ErrDiffers
	}
	return err
}

// Close aborts the upload, unless it was committed.
func (f *StoreFile) Close() error {
	f.up.Abort()
	return nil
}

// fileSet is a set of names, for several goroutines.
type fileSet struct {
	mu  sync.Mutex
	has map[string]struct{}
}

func (s *fileSet) add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has == nil {
		s.has = map[string]struct{}{}
	}
	s.has[name] = struct{}{}
}

func (s *fileSet) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.has, name)
}

func (s *fileSet) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.has))
	for name := range s.has {
		names = append(names, name)
	}
	return names
}
