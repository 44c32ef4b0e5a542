package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"sync"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// storeFile is an object on its way into a store, which must not have one of that name.
type storeFile struct {
	ctx   context.Context
	at    storage.Location
	up    storage.Upload
	sum   hash.Hash
	bytes int64

	made *fileSet // gets the name before the object does
	name string
}

func newStoreFile(ctx context.Context, at storage.Location) (*storeFile, error) {
	store, name, err := at.Store(ctx)
	if err != nil {
		return nil, err
	}
	up, err := store.Create(ctx, name, storage.CreateOptions{})
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: at.String(), Err: err}
	}
	return &storeFile{ctx: ctx, at: at, up: up, sum: sha256.New(), made: new(fileSet)}, nil
}

func (f *storeFile) Write(p []byte) (int, error) {
	n, err := f.up.Write(p)
	f.sum.Write(p[:n])
	f.bytes += int64(n)
	return n, err
}

// commit publishes the object. One that is there already must be the same: it may be this one, if a
// response was lost.
func (f *storeFile) commit() error {
	f.made.add(f.name)
	_, err := f.up.Commit()
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	same, err := compare.HasHash(f.ctx, f.at, f.bytes, hex.EncodeToString(f.sum.Sum(nil)))
	if err == nil && !same {
		f.made.remove(f.name)
		err = compare.ErrDiffers
	}
	return err
}

// Close aborts the upload, unless it was committed.
func (f *storeFile) Close() error {
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

// uploadTable writes a table to a store, and returns its size.
func uploadTable(ctx context.Context, in *inputs, at storage.Location, temp string, s *inputScan, o *Options) (int64, error) {
	f, err := newStoreFile(ctx, at)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := writeTable(ctx, in, f, temp, s, o); err != nil {
		return 0, err
	}
	if err := f.commit(); errors.Is(err, compare.ErrDiffers) {
		return 0, output.Differs(at.Path(), "")
	} else if err != nil {
		return 0, err
	}
	return f.bytes, nil
}
