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
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// ErrBusy means that another process is writing into the directory.
var ErrBusy = errors.New("another tfrec is writing to this directory; wait for it to finish, or choose another directory")

// Dir is an output directory of a set: a local one, or one in an object store when its path is a
// URL. It is held by one process, or by several that joined to write one set. The lock of a local
// directory is tied to the process, so a killed process leaves no stale lock.
type Dir struct {
	loc storage.Location
	ctx context.Context // bounds reads and writes in a store
	at  directory
}

// directory stores the files of a Dir. Names are slash-separated and relative to it. Reads use
// paths.
type directory interface {
	// put writes a file atomically, replacing any file of that name.
	put(name string, data []byte) error
	// create begins a file that has no name yet. If sum is not nil, the caller adds all that it
	// writes to sum.
	create(name string, sum hash.Hash) (draft, error)
	// remove deletes files, the first one before the others. Missing files are ignored.
	remove(names ...string) error
	// syncNames fsyncs the directories of shards and indexes so that renames are durable.
	syncNames() error
	// exists reports whether a file of that name exists.
	exists(name string) (bool, error)
	// existing returns the names that exist.
	existing(names []string) ([]string, error)
	// list returns the base names of the files in a directory. A missing directory is empty.
	list(directory string) ([]string, error)
	// stamp returns what identifies a version of a file. If it is not a file, the error unwraps to
	// fs.ErrNotExist.
	stamp(name string) (Stamp, error)
	// stamps returns the stamps of the names that exist.
	stamps(names []string) (map[string]Stamp, error)
	// atOnce is the number of small files to read concurrently.
	atOnce() int
	// temp creates a temporary file.
	temp(prefix string) (*os.File, error)
	// sweep removes leftovers of killed runs. ours reports whether a name, in its final form, is
	// one of tfrec's.
	sweep(ours func(name string) (bool, error)) error
	// leftovers returns the files that sweep would remove, except unimportant ones.
	leftovers(ours func(name string) (bool, error)) ([]Leftover, error)
	// alone calls f while holding the lock named thing. It returns early, without calling f, if
	// unless reports true.
	alone(ctx context.Context, thing string, unless func() (bool, error), f func() error) error
	// mkdir durably creates a directory below this one, with its parents. A symbolic link on the
	// way is an error. In a store it does nothing.
	mkdir(name string) error
	// sub returns a directory below this one that shares its lock.
	sub(name string) directory
	// remote reports whether the directory is one of an object store.
	remote() bool
	// close unlocks the directory.
	close() error
}

// draft is a file being written that has no name yet.
type draft interface {
	io.Writer
	// clear removes the file that this one replaces.
	clear() error
	// commit publishes the file under its name. Unless many is set, the name is durable on return;
	// otherwise only after syncNames.
	commit(many bool) error
	// discard removes what was written. It does nothing after commit.
	discard()
}

// Stamp identifies a version of a file without reading it.
type Stamp struct {
	Bytes   int64
	ModTime int64  // in nanoseconds since 1970
	Version string // of an object: its ETag or generation
}

// Options configures Open. The zero value is a sensible default.
type Options struct {
	// Join shares the directory with other joined processes that write shards of the same set, such
	// as the tasks of an array job, and excludes processes that want it for themselves. A process
	// that joined must not sweep.
	Join bool
	// Note, if not nil, is called with a human-readable message, such as that Open is waiting for a
	// directory.
	Note func(sentence string)
}

// Open creates the directory at path, with its parents, and locks it for this process until Close.
// Path may be the URL of a directory in an object store; reads and writes there are cancelled when
// ctx is done. If another process holds the directory, the error unwraps to ErrBusy.
//
// If another process was interrupted while it changed the set, Open first completes the change.
func Open(ctx context.Context, path string, o Options) (*Dir, error) {
	return open(ctx, storage.Parse(path), o)
}

func open(ctx context.Context, loc storage.Location, o Options) (*Dir, error) {
	if o.Join && !loc.Remote() {
		return joinDir(ctx, loc, o)
	}
	d, err := openAsIs(ctx, loc, o)
	if err != nil {
		return nil, err
	}
	j, err := d.ReadJournal()
	if err == nil && j != nil && o.Join { // in a store; others may complete it at the same time
		err = fmt.Errorf("%s: an append was interrupted: %s %[1]s completes it", d.Path(), optname.ReshapeAppend)
	}
	if err == nil && j != nil {
		if err = d.Complete(j); err == nil && o.Note != nil {
			o.Note(fmt.Sprintf("completed an interrupted change of %s", d.Path()))
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// joinDir is Open with Options.Join for a local directory. Completing an interrupted change needs
// an exclusive lock first.
func joinDir(ctx context.Context, loc storage.Location, o Options) (*Dir, error) {
	const patience = 10 * time.Second // also for other joined processes that complete it
	for deadline := time.Now().Add(patience); ; {
		d, err := openAsIs(ctx, loc, o)
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
		alone, err := open(ctx, loc, Options{Note: o.Note})
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

// OpenAsIs is Open without completing an interrupted change.
func OpenAsIs(ctx context.Context, path string, o Options) (*Dir, error) {
	return openAsIs(ctx, storage.Parse(path), o)
}

func openAsIs(ctx context.Context, loc storage.Location, o Options) (*Dir, error) {
	if loc.Remote() {
		at, err := openStore(ctx, loc, o)
		if err != nil {
			return nil, err
		}
		return &Dir{loc: loc, ctx: at.ctx, at: at}, nil
	}
	if err := loc.CheckOutput(); err != nil {
		return nil, err
	}
	at, err := openLocal(ctx, loc.Path(), o)
	if err != nil {
		return nil, err
	}
	return &Dir{loc: loc, ctx: ctx, at: at}, nil
}

// OpenWhenFree is like Open, but retries for up to patience while another process holds the
// directory.
func OpenWhenFree(ctx context.Context, path string, o Options, patience time.Duration) (*Dir, error) {
	loc := storage.Parse(path)
	for deadline := time.Now().Add(patience); ; {
		d, err := open(ctx, loc, o)
		if !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			return d, err
		}
		if err := par.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// View returns a read-only Dir, without a lock, for a directory that need not exist. Nothing must
// be written through it. Reads in a store are cancelled when ctx is done.
func View(ctx context.Context, path string) *Dir { return ViewAt(ctx, storage.Parse(path)) }

// ViewAt is View for a path that is parsed already.
func ViewAt(ctx context.Context, loc storage.Location) *Dir {
	if loc.Remote() {
		return &Dir{loc: loc, ctx: ctx, at: &storeDirectory{loc: loc, ctx: ctx, turns: new(turns), scratch: new(scratch)}}
	}
	return &Dir{loc: loc, ctx: ctx, at: &localDirectory{ctx: ctx, path: loc.String(), shared: &shared{syncs: newDirSyncs()}}}
}

// Sub returns a directory below this one that shares its lock.
func (d *Dir) Sub(name string) *Dir {
	return &Dir{loc: d.loc.Join(name), ctx: d.ctx, at: d.at.sub(name)}
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
	return d.at.alone(ctx, thing, unless, f)
}

// Context returns the context that bounds reads and writes in a store.
func (d *Dir) Context() context.Context { return d.ctx }

// Path returns the directory as it was given to Open.
func (d *Dir) Path() string { return d.loc.Path() }

// Remote reports whether the directory is one of an object store.
func (d *Dir) Remote() bool { return d.at.remote() }

// Close unlocks the directory. It removes the directories that opening it created, if they contain
// only its lock and no other process has joined.
func (d *Dir) Close() error { return d.at.close() }

// Put writes a file of the set, such as the manifest, atomically. The name is relative to the
// directory.
func (d *Dir) Put(name string, data []byte) error {
	if err := inject.Fault(d.ctx, "put", d.Join(name)); err != nil {
		return err
	}
	return d.at.put(name, data)
}

// Read returns the content of a file of the set. The name is relative to the directory. A file of
// more than limit bytes is an error.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	return d.read(d.ctx, name, limit)
}

// read is Read with another context, which is derived from d.ctx.
func (d *Dir) read(ctx context.Context, name string, limit int64) ([]byte, error) {
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
	return d.at.remove(names...)
}

// Exists reports whether the directory has a file of that name. It returns an error if it cannot
// tell.
func (d *Dir) Exists(name string) (bool, error) { return d.at.exists(name) }

// List returns the base names of the files in a directory below this one. A missing directory is
// empty.
func (d *Dir) List(directory string) ([]string, error) { return d.at.list(directory) }

// Existing returns the names that exist in the directory.
func (d *Dir) Existing(names []string) ([]string, error) { return d.at.existing(names) }

// Sweep removes the partial files of killed runs, and locks that only joined processes use.
func (d *Dir) Sweep() error {
	if err := d.at.sweep(d.ours()); err != nil {
		return fmt.Errorf("sweep temporary files: %w", err)
	}
	return nil
}

// ours returns a function that reports whether a name in this directory is tfrec's: listed in the
// manifest or in the state of a run, part of the state itself, or any name if an export is writing
// the directory.
func (d *Dir) ours() func(name string) (bool, error) {
	var named map[string]bool
	var exporting bool
	return func(name string) (bool, error) {
		if exporting || strings.HasPrefix(name, StateDir+"/") {
			return true, nil
		}
		if named == nil { // computed lazily: few calls need it
			var err error
			if exporting, err = d.Exists(ExportFile); exporting || err != nil {
				return exporting, err
			}
			files := []string{manifest.File}
			r, err := d.Run()
			if err != nil {
				return false, err
			}
			if r != nil {
				files = slices.Concat(files, r.Files, r.Stale)
			}
			if m, err := d.Manifest(); err == nil && m != nil {
				files = append(files, m.Files()...)
			}
			named = make(map[string]bool, len(files))
			for _, file := range files {
				named[path.Clean(file)] = true
			}
		}
		return named[name], nil
	}
}

// Mkdir durably creates a directory below this one, with its parents. In a store it does nothing.
func (d *Dir) Mkdir(name string) error { return d.at.mkdir(name) }

// Stamp returns what identifies a version of a file without reading it. If it is not a file, the
// error unwraps to fs.ErrNotExist.
func (d *Dir) Stamp(name string) (Stamp, error) { return d.at.stamp(name) }

// Stamps returns the stamps of the names that exist.
func (d *Dir) Stamps(names []string) (map[string]Stamp, error) { return d.at.stamps(names) }

// Join returns the path of a file in the directory.
func (d *Dir) Join(name string) string { return d.loc.Join(name).Path() }

// CheckName returns an error if file is not a plain file name.
func CheckName(file string) error {
	if file == "" || file == "." || strings.ContainsAny(file, `/\`) || !filepath.IsLocal(file) {
		return fmt.Errorf("%q is not a shard name: want a plain file name", file)
	}
	return nil
}
