package place

import (
	"context"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// StateDir is the directory of the state of runs, in the directory of a set.
const StateDir = ".tfrec"

// ErrBusy means that another process is writing into the directory.
var ErrBusy = errors.New("another tfrec is writing to this directory; wait for it to finish, or choose another directory")

// Directory stores the files of a set. Names are slash-separated and relative to it. Reads use
// paths.
type Directory interface {
	// Put writes a file atomically, replacing any file of that name.
	Put(name string, data []byte) error
	// Create begins a file that has no name yet. If sum is not nil, the caller adds all that it
	// writes to sum.
	Create(name string, sum hash.Hash) (Draft, error)
	// Remove deletes files, the first one before the others. Missing files are ignored.
	Remove(names ...string) error
	// SyncNames fsyncs the directories of shards and indexes so that renames are durable.
	SyncNames() error
	// Exists reports whether a file of that name exists.
	Exists(name string) (bool, error)
	// Existing returns the names that exist.
	Existing(names []string) ([]string, error)
	// List returns the base names of the files in a directory. A missing directory is empty.
	List(directory string) ([]string, error)
	// Stamp returns what identifies a version of a file. If it is not a file, the error unwraps to
	// fs.ErrNotExist.
	Stamp(name string) (Stamp, error)
	// Stamps returns the stamps of the names that exist.
	Stamps(names []string) (map[string]Stamp, error)
	// AtOnce is the number of small files to read concurrently.
	AtOnce() int
	// Temp creates a temporary file.
	Temp(prefix string) (*os.File, error)
	// Sweep removes leftovers of killed runs. ours reports whether a name, in its final form, is
	// one of tfrec's.
	Sweep(ours func(name string) (bool, error)) error
	// Leftovers returns the files that Sweep would remove, except unimportant ones.
	Leftovers(ours func(name string) (bool, error)) ([]Leftover, error)
	// Alone calls f while holding the lock named thing. It returns early, without calling f, if
	// unless reports true.
	Alone(ctx context.Context, thing string, unless func() (bool, error), f func() error) error
	// Mkdir durably creates a directory below this one, with its parents. A symbolic link on the
	// way is an error. In a store it does nothing.
	Mkdir(name string) error
	// Sub returns a directory below this one that shares its lock.
	Sub(name string) Directory
	// Remote reports whether the directory is one of an object store.
	Remote() bool
	// Context returns the context that bounds reads and writes in a store.
	Context() context.Context
	// Close unlocks the directory.
	Close() error
}

// Draft is a file being written that has no name yet.
type Draft interface {
	io.Writer
	// Clear removes the file that this one replaces.
	Clear() error
	// Commit publishes the file under its name. Unless many is set, the name is durable on return;
	// otherwise only after SyncNames.
	Commit(many bool) error
	// Discard removes what was written. It does nothing after Commit.
	Discard()
}

// Stamp identifies a version of a file without reading it.
type Stamp struct {
	Bytes   int64
	ModTime int64  // in nanoseconds since 1970
	Version string // of an object: its ETag or generation
}

// Options configures Open.
type Options struct {
	// Join shares the directory with other processes that join it.
	Join bool
	// Note, if not nil, is called with a human-readable message.
	Note func(sentence string)
}

// Open creates and locks the directory at loc, until Close.
func Open(ctx context.Context, loc storage.Location, o Options) (Directory, error) {
	if loc.Remote() {
		at, err := openStore(ctx, loc, o)
		if err != nil {
			return nil, err
		}
		return at, nil
	}
	if err := loc.CheckOutput(); err != nil {
		return nil, err
	}
	at, err := openLocal(ctx, loc.Path(), o)
	if err != nil {
		return nil, err
	}
	return at, nil
}

// View returns a read-only directory, without a lock, that need not exist.
func View(ctx context.Context, loc storage.Location) Directory {
	if loc.Remote() {
		return &storeDirectory{loc: loc, ctx: ctx, turns: new(turns), scratch: new(scratch)}
	}
	return &localDirectory{ctx: ctx, path: loc.String(), shared: &shared{syncs: newDirSyncs()}}
}

// Inherit makes is.Close also remove the directories that before, an earlier directory at the
// same path, had created, if they are empty.
func Inherit(is, before Directory) {
	now, ok := is.(*localDirectory)
	if was, local := before.(*localDirectory); ok && local {
		now.created = was.created
	}
}
