package place

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"sync"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/storage"
)

func (f *storeDirectory) Create(name string, sum hash.Hash) (Draft, error) {
	d := &storeDraft{directory: f, name: name, sum: sum}
	err := f.mayWrite()
	if err == nil {
		d.was, err = f.stat(name)
	}
	if err == nil {
		var store storage.Store
		var at string
		if store, at, err = f.at(name); err == nil {
			// An existing object is removed just before the new one is published, and not
			// otherwise.
			d.up, err = store.Create(f.ctx, at, storage.CreateOptions{Replace: d.was != nil})
		}
	}
	if err != nil {
		return nil, f.failed("create", name, err)
	}
	if sum == nil {
		d.sum, d.sums = sha256.New(), true
	}
	return d, nil
}

// storeDraft is an object being uploaded.
type storeDraft struct {
	directory *storeDirectory
	name      string
	was       *storage.Object // the object it replaces; nil if none
	up        storage.Upload
	sum       hash.Hash
	sums      bool // Write adds to sum; otherwise the caller does
	bytes     int64
}

func (d *storeDraft) Write(p []byte) (int, error) {
	if err := inject.Fault(d.directory.ctx, "write", d.directory.path(d.name)); err != nil {
		return 0, err
	}
	n, err := d.up.Write(p)
	d.bytes += int64(n)
	if d.sums {
		d.sum.Write(p[:n])
	}
	return n, d.directory.failed("write", d.name, err)
}

// Clear removes the object that existed when the draft was begun. If another writer has put a
// different one there since, it stays and clear returns an error.
func (d *storeDraft) Clear() error {
	if d.was == nil {
		return nil
	}
	is, err := d.directory.stat(d.name)
	if err != nil {
		return err
	}
	if is != nil && is.Version != d.was.Version {
		return d.directory.failed("replace", d.name, ErrOtherWriter)
	}
	d.was = nil
	return d.directory.removeOne(d.name)
}

// ErrOtherWriter means that claims failed to exclude another writer, and that its file was kept.
var ErrOtherWriter = errors.New("another writer has put different content there in the meantime, which stays; make sure that nothing else writes to this directory, and run the command again")

func (d *storeDraft) Commit(bool) error {
	if err := inject.Fault(d.directory.ctx, "place", d.directory.path(d.name)); err != nil {
		return err
	}
	if err := d.Clear(); err != nil {
		return err
	}
	err := d.directory.mayWrite()
	if err == nil {
		_, err = d.up.Commit()
	}
	if errors.Is(err, fs.ErrExist) {
		// Either our own request succeeded and its response was lost, or another process has
		// written the same shard.
		err = d.mustBeSame()
	}
	return d.directory.failed("publish", d.name, err)
}

// mustBeSame returns an error unless the existing object equals the draft.
func (d *storeDraft) mustBeSame() error {
	same, err := compare.HasHash(d.directory.ctx, d.directory.loc.Join(d.name), d.bytes, hex.EncodeToString(d.sum.Sum(nil)))
	if err == nil && !same {
		err = ErrOtherWriter
	}
	return err
}

func (d *storeDraft) Discard() { d.up.Abort() }

// scratch is a local directory for temporary files of a directory in a store.
type scratch struct {
	mu  sync.Mutex
	dir string
}

func (s *scratch) create(prefix string) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "tfrec-*")
		if err != nil {
			return nil, err
		}
		s.dir = dir
	}
	f, err := os.CreateTemp(s.dir, prefix+".*")
	if err == nil {
		os.Remove(f.Name()) // if the system allows it, so that the file is freed with the process
	}
	return f, err
}

func (s *scratch) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
