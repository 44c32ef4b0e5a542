package setdir

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Dir is an output directory of a set: a local one, or one in an object store when its path is a
// URL. It is held by one process, or by several that joined to write one set. The lock of a local
// directory is tied to the process, so a killed process leaves no stale lock.
type Dir struct {
	loc storage.Location
	ctx context.Context // bounds reads and writes in a store
	at  place.Directory
}

// View returns a read-only Dir, without a lock, for a directory that need not exist. Nothing must
// be written through it. Reads in a store are cancelled when ctx is done.
func View(ctx context.Context, path string) *Dir { return ViewAt(ctx, storage.Parse(path)) }

// ViewAt is View for a path that is parsed already.
func ViewAt(ctx context.Context, loc storage.Location) *Dir {
	return &Dir{loc: loc, ctx: ctx, at: place.View(ctx, loc)}
}

// Sub returns a directory below this one that shares its lock.
func (d *Dir) Sub(name string) *Dir {
	return &Dir{loc: d.loc.Join(name), ctx: d.ctx, at: d.at.Sub(name)}
}

// WithLock calls f while no other joined process is in WithLock for the same thing, which must be a
// plain file name. It waits for the others until ctx is done.
func (d *Dir) WithLock(ctx context.Context, thing string, f func() error) error {
	return d.WithLockUnless(ctx, thing, func() (bool, error) { return false, nil }, f)
}

// WithLockUnless is WithLock for work that another process may do in the meantime: it returns
// without calling f once unless reports true. It calls unless at the beginning and while it waits.
func (d *Dir) WithLockUnless(ctx context.Context, thing string, unless func() (bool, error), f func() error) error {
	if err := CheckName(thing); err != nil {
		return err
	}
	if done, err := unless(); done || err != nil {
		return err
	}
	return d.at.Alone(ctx, thing, unless, f)
}

// Context returns the context that bounds reads and writes in a store.
func (d *Dir) Context() context.Context { return d.ctx }

// Path returns the directory as it was given to Open.
func (d *Dir) Path() string { return d.loc.Path() }

// Remote reports whether the directory is one of an object store.
func (d *Dir) Remote() bool { return d.at.Remote() }

// Close unlocks the directory. It removes the directories that opening it created, if they contain
// only its lock and no other process has joined.
func (d *Dir) Close() error { return d.at.Close() }

// Put writes a file of the set, such as the manifest, atomically. The name is relative to the
// directory.
func (d *Dir) Put(name string, data []byte) error {
	if err := inject.Fault(d.ctx, "put", d.Join(name)); err != nil {
		return err
	}
	return d.at.Put(name, data)
}

// Read returns the content of a file of the set. The name is relative to the directory. A file of
// more than limit bytes is an error.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	return readFile(d.ctx, d, name, limit)
}

// read is Read with another context, which is derived from d.ctx.
func readFile(ctx context.Context, d *Dir, name string, limit int64) ([]byte, error) {
	file := d.loc.Join(name)
	if err := inject.Fault(ctx, "read", file.Path()); err != nil {
		return nil, err
	}
	return file.ReadFile(ctx, limit)
}

// Remove deletes files of the set, the first one before the others. Names are relative to the
// directory. Missing files are ignored; names outside the directory are an error. It also removes
// the index directory if that becomes empty.
func (d *Dir) Remove(names ...string) error {
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("refuse to remove %q: it is outside %s", name, d.Path())
		}
	}
	return d.at.Remove(names...)
}

// Exists reports whether the directory has a file of that name. It returns an error if it cannot
// tell.
func (d *Dir) Exists(name string) (bool, error) { return d.at.Exists(name) }

// List returns the base names of the files in a directory below this one. A missing directory is
// empty.
func (d *Dir) List(directory string) ([]string, error) { return d.at.List(directory) }

// Existing returns the names that exist in the directory.
func (d *Dir) Existing(names []string) ([]string, error) { return d.at.Existing(names) }

// Mkdir durably creates a directory below this one, with its parents. In a store it does nothing.
func (d *Dir) Mkdir(name string) error { return d.at.Mkdir(name) }

// Stamp returns what identifies a version of a file without reading it. If it is not a file, the
// error unwraps to fs.ErrNotExist.
func (d *Dir) Stamp(name string) (place.Stamp, error) { return d.at.Stamp(name) }

// Stamps returns the stamps of the names that exist.
func (d *Dir) Stamps(names []string) (map[string]place.Stamp, error) { return d.at.Stamps(names) }

// Join returns the path of a file in the directory.
func (d *Dir) Join(name string) string { return d.loc.Join(name).Path() }

// Inherit makes Close also remove the directories that before, an earlier Dir of the same
// directory, had created, if they are empty.
func (d *Dir) Inherit(before *Dir) { place.Inherit(d.at, before.at) }
