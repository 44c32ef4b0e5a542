package setdir

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/storage"
)

// ErrBusy says that another process is writing into the directory.
var ErrBusy = errors.New("another tfrec is writing to this directory; wait for it to finish, or choose another directory")

// Dir is a directory that a set is written into: one of the file system, or one of
// an object store when its path is a URL. One process at a time has it, or
// several that join in making one set. Of a directory here, the lock goes with the
// process, so a dead one leaves none behind.
type Dir struct {
	path string
	ctx  context.Context // what is read and written in a store ends with it
	at   directory
	// names returns the names of the files that a manifest tells of; nil when nobody can read one.
	names func(ctx context.Context, manifest string) ([]string, error)
}

// directory is where the files of a Dir lie. Names are relative to it and have
// slashes between them. What is read, is read by path.
type directory interface {
	// put writes a file whole or not at all, in the place of what has its name.
	put(name string, data []byte) error
	// create begins a file that has no name yet. What is written into it is added to
	// sum as well, by the caller.
	create(name string, sum hash.Hash) (draft, error)
	// remove deletes files, the first before the others. Those that are not there are
	// fine.
	remove(names ...string) error
	// syncNames makes the names in the directories that shards and indexes lie in last.
	syncNames() error
	// exists reports whether something has a name.
	exists(name string) (bool, error)
	// existing returns those of the names that something has.
	existing(names []string) ([]string, error)
	// list returns the names of the files in a directory, without it. One that is not
	// there holds none.
	list(directory string) ([]string, error)
	// stamp returns what a file is known by. For what is no file its error unwraps to
	// fs.ErrNotExist.
	stamp(name string) (Stamp, error)
	// stamps returns what stamp does for many names, of those that are there.
	stamps(names []string) (map[string]Stamp, error)
	// atOnce is how many small files are read at a time.
	atOnce() int
	// temp makes a file for work in progress.
	temp(prefix string) (*os.File, error)
	// sweep removes what killed runs left, which name tells of by the names that it
	// was to have.
	sweep(ours func(name string) (bool, error)) error
	// leftovers returns what sweep would remove that is worth telling.
	leftovers(ours func(name string) (bool, error)) ([]Leftover, error)
	// alone calls f while no other process is in alone for the same thing, unless
	// that says that there is no need.
	alone(ctx context.Context, thing string, unless func() (bool, error), f func() error) error
	// mkdir makes a directory below this one, with those that it is in, durably. It
	// refuses one that is a link. In a store there is nothing to make.
	mkdir(name string) error
	// sub is a directory below this one, which goes by its lock.
	sub(name string) directory
	// remote reports whether the directory is one of an object store.
	remote() bool
	// close gives the directory back.
	close() error
}

// draft is a file that is being written and has no name yet.
type draft interface {
	io.Writer
	// clear removes what the file is to take the place of.
	clear() error
	// commit gives the file its name, whole. Unless many is set, the name lasts
	// when it returns; otherwise syncNames makes it last.
	commit(many bool) error
	// discard throws away what was written. It does nothing behind commit.
	discard()
}

// Stamp is what a file is known by without reading it.
type Stamp struct {
	Bytes   int64
	ModTime int64  // in nanoseconds since 1970
	Version string // of an object: its ETag or generation
}

// Options say how a directory is opened. The zero value is a sensible default.
type Options struct {
	// Join shares the directory with other processes that join in making shards of
	// the same set at the same time, such as the tasks of an array job; it keeps
	// out those that want it for themselves. None of them may sweep it.
	Join bool
	// Note is called with a sentence for people, such as that a directory is waited
	// for, if it is not nil.
	Note func(sentence string)
	// Names returns the names of the files of the set that the manifest at a path describes,
	// relative to the directory. In a store, what killed runs left of those is swept.
	Names func(ctx context.Context, manifest string) ([]string, error)
}

// Open makes the directory at path with what leads to it, and takes it: it is
// this process's until Close. Path may be the URL of a directory in an object store;
// what is read and written there is given up when ctx is done. It returns an error
// that unwraps to ErrBusy when another process has it.
//
// A change of the set there that another process began and did not complete is
// completed first.
func Open(ctx context.Context, path string, o Options) (*Dir, error) {
	if o.Join && !storage.Remote(path) {
		return joinDir(ctx, path, o)
	}
	d, err := OpenAsIs(ctx, path, o)
	if err != nil || storage.Remote(path) {
		return d, err
	}
	j, err := d.ReadJournal()
	if err == nil && j != nil {
		if err = d.Complete(j); err == nil && o.Note != nil {
			o.Note(fmt.Sprintf("completed an interrupted change of %s", path))
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// joinDir is Open for those who share a local directory. A change that was not
// completed needs a lock for one process alone first.
func joinDir(ctx context.Context, path string, o Options) (*Dir, error) {
	const patience = 10 * time.Second // with others who join and complete it, too
	for deadline := time.Now().Add(patience); ; {
		d, err := OpenAsIs(ctx, path, o)
		if err != nil {
			return nil, err
		}
		begun, err := d.Exists(JournalFile)
		if err == nil && !begun {
			return d, nil
		}
		if err := errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
		alone, err := Open(ctx, path, Options{Note: o.Note, Names: o.Names})
		if err == nil {
			err = alone.Close()
		}
		if err != nil && (!errors.Is(err, ErrBusy) || time.Now().After(deadline)) {
			return nil, err
		}
		if err := par.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// OpenAsIs is Open for those who complete changes themselves.
func OpenAsIs(ctx context.Context, path string, o Options) (*Dir, error) {
	if storage.Remote(path) {
		at, err := openStore(ctx, path, o)
		if err != nil {
			return nil, err
		}
		return &Dir{path: path, ctx: at.ctx, at: at, names: o.Names}, nil
	}
	if err := storage.CheckOutput(path); err != nil {
		return nil, err
	}
	at, err := openLocal(path, o)
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, ctx: ctx, at: at, names: o.Names}, nil
}

// OpenWhenFree is Open that waits, no longer than patience, for processes
// which have the directory and are about to leave it.
func OpenWhenFree(ctx context.Context, path string, o Options, patience time.Duration) (*Dir, error) {
	for deadline := time.Now().Add(patience); ; {
		d, err := Open(ctx, path, o)
		if !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			return d, err
		}
		if err := par.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// View is for looking at a directory, which need not be there: it takes no
// lock, and nothing must be written through it. What is read in a store is given up
// when ctx is done.
func View(ctx context.Context, path string) *Dir {
	if storage.Remote(path) {
		return &Dir{path: path, ctx: ctx, at: &storeDirectory{url: path, ctx: ctx, turns: new(turns), scratch: new(scratch)}}
	}
	return &Dir{path: path, ctx: ctx, at: &localDirectory{path: path}}
}

// Sub is a directory below this one that goes by its lock.
func (d *Dir) Sub(name string) *Dir {
	return &Dir{path: d.Join(name), ctx: d.ctx, at: d.at.sub(name), names: d.names}
}

// WithLock calls f while no other process that joined is in WithLock for the same
// thing, which is a plain file name. It waits for them, as long as ctx is not
// done.
func (d *Dir) WithLock(ctx context.Context, thing string, f func() error) error {
	return d.WithLockUnless(ctx, thing, func() (bool, error) { return false, nil }, f)
}

// WithLockUnless is Alone for what another process may do in the meantime: f is not
// called once unless says so, which is asked at the beginning and while others are
// waited for.
func (d *Dir) WithLockUnless(ctx context.Context, thing string, unless func() (bool, error), f func() error) error {
	if err := CheckName(thing); err != nil {
		return err
	}
	if done, err := unless(); done || err != nil {
		return err
	}
	return d.at.alone(ctx, thing, unless, f)
}

// Context is what Open was given: what is read and written in a store ends with it.
func (d *Dir) Context() context.Context { return d.ctx }

// Path returns the directory as Open was given it.
func (d *Dir) Path() string { return d.path }

// Remote reports whether the directory is one of an object store.
func (d *Dir) Remote() bool { return d.at.remote() }

// Close gives the directory back. Directories that opening it made go, when nothing
// but its lock was put into them and nobody else has joined.
func (d *Dir) Close() error { return d.at.close() }

// Put writes a file of the set, such as the manifest, whole or not at all.
// The name is relative to the directory.
func (d *Dir) Put(name string, data []byte) error {
	if err := inject.Fault("put", d.Join(name)); err != nil {
		return err
	}
	return d.at.put(name, data)
}

// Read returns a file of the set, which has a name relative to the directory. More
// than limit bytes are an error.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	if err := inject.Fault("read", d.Join(name)); err != nil {
		return nil, err
	}
	return storage.ReadFile(d.ctx, d.Join(name), limit)
}

// Remove deletes files of the set by their names relative to the directory, the
// first before the others. Names that are not there are fine; names that lead out
// of the directory are refused. A directory for indexes that is left empty goes too.
func (d *Dir) Remove(names ...string) error {
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("refuse to remove %q: it is outside %s", name, d.path)
		}
	}
	return d.at.remove(names...)
}

// Exists reports whether the directory holds a file of that name. An error says
// that this could not be found out.
func (d *Dir) Exists(name string) (bool, error) { return d.at.exists(name) }

// List returns the names of the files in a directory below this one, without it. One that is not
// there holds none.
func (d *Dir) List(directory string) ([]string, error) { return d.at.list(directory) }

// Existing returns those of the names that the directory holds files of.
func (d *Dir) Existing(names []string) ([]string, error) { return d.at.existing(names) }

// Sweep removes what a killed run left half written, and locks that only
// processes that joined have a use for.
func (d *Dir) Sweep() error {
	if err := d.at.sweep(d.ours()); err != nil {
		return fmt.Errorf("sweep temporary files: %w", err)
	}
	return nil
}

// ours returns what tells the names of this directory that are tfrec's: those in a
// manifest or in the state of a run, and the state itself.
func (d *Dir) ours() func(name string) (bool, error) {
	var named map[string]bool
	return func(name string) (bool, error) {
		if strings.HasPrefix(name, StateDir+"/") {
			return true, nil
		}
		if named == nil { // it is asked about few, and seldom
			files := []string{ManifestFile}
			r, err := d.Run()
			if err != nil {
				return false, err
			}
			if r != nil {
				files = slices.Concat(files, r.Files, r.Stale)
			}
			if d.names != nil {
				if more, err := d.names(d.ctx, d.Join(ManifestFile)); err == nil {
					files = append(files, more...)
				}
			}
			named = make(map[string]bool, len(files))
			for _, file := range files {
				named[path.Clean(file)] = true
			}
		}
		return named[name], nil
	}
}

// Mkdir makes a directory below this one, with those that it is in, durably. In a store there is
// nothing to make.
func (d *Dir) Mkdir(name string) error { return d.at.mkdir(name) }

// Stamp returns what identifies a file without reading it. For what is not a file its error
// unwraps to fs.ErrNotExist.
func (d *Dir) Stamp(name string) (Stamp, error) { return d.at.stamp(name) }

// Stamps returns what stamp does for many names, of those that are there.
func (d *Dir) Stamps(names []string) (map[string]Stamp, error) { return d.at.stamps(names) }

func (d *Dir) Join(name string) string { return storage.Join(d.path, name) }

// CheckName refuses names that are not plain file names.
func CheckName(file string) error {
	if file == "" || file == "." || strings.ContainsAny(file, `/\`) || !filepath.IsLocal(file) {
		return fmt.Errorf("%q is not a shard name: want a plain file name", file)
	}
	return nil
}
