package storagetest

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Create implements storage.Store.
func (d *Distant) Create(ctx context.Context, name string, o storage.CreateOptions) (storage.Upload, error) {
	return storage.NewUpload(ctx, "mem://store/"+name, &distantSender{to: d, name: name, replace: o.Replace}, storage.AtOnce), nil
}

// distantSender carries an object into a Distant.
type distantSender struct {
	to      *Distant
	name    string
	replace bool

	mu    sync.Mutex
	parts map[int][]byte
}

func (s *distantSender) request(ctx context.Context, kind string, do func() error) error {
	_, end, err := s.to.begin(ctx, kind, s.name)
	if err == nil {
		err = do()
	}
	if err == nil {
		err = end()
	}
	return err
}

// make makes the object.
func (s *distantSender) make(data []byte) error {
	d := s.to
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Store.mu.Lock()
	_, there := d.Store.objects[s.name]
	d.Store.mu.Unlock()
	if there && !s.replace {
		return fs.ErrExist
	}
	d.remember(s.name)
	d.Store.Put(s.name, data)
	d.marks[s.name] = s
	return nil
}

// Put implements storage.Sender.
func (s *distantSender) Put(ctx context.Context, data *storage.Payload) (storage.Object, error) {
	if err := s.request(ctx, "put", func() error { return s.make(slices.Clone(data.Bytes())) }); err != nil {
		return storage.Object{}, err
	}
	return s.Store().Stat(ctx, s.name)
}

// Store returns the store without the network.
func (s *distantSender) Store() *Store { return s.to.Store }

// Begin implements storage.Sender.
func (s *distantSender) Begin(ctx context.Context) error {
	return s.request(ctx, "begin", func() error { return nil })
}

// Part implements storage.Sender.
func (s *distantSender) Part(ctx context.Context, n int, _ int64, data *storage.Payload, _ bool) error {
	return s.request(ctx, "part", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.parts == nil {
			s.parts = map[int][]byte{}
		}
		s.parts[n] = slices.Clone(data.Bytes())
		return nil
	})
}

// Finish implements storage.Sender.
func (s *distantSender) Finish(ctx context.Context) (storage.Object, error) {
	err := s.request(ctx, "finish", func() error {
		var data []byte
		for _, n := range slices.Sorted(maps.Keys(s.parts)) {
			data = append(data, s.parts[n]...)
		}
		return s.make(data)
	})
	if err != nil {
		return storage.Object{}, err
	}
	return s.Store().Stat(ctx, s.name)
}

// Discard implements storage.Sender.
func (s *distantSender) Discard(context.Context) error { return nil }

// FindOwn implements storage.Sender.
func (s *distantSender) FindOwn(ctx context.Context) (storage.Object, error) {
	is, err := s.to.Stat(ctx, s.name)
	if err != nil {
		return is, err
	}
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	if s.to.marks[s.name] != s {
		return storage.Object{}, fs.ErrNotExist
	}
	return is, nil
}
