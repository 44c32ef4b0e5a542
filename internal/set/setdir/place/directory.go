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

// Directory stores the files of a Dir. Names are slash-separated and relative to it. Reads use
// paths.
type Directory interface {
	// put writes a file atomically, replacing any file of that name.
	Put(name string, data []byte) error
	// create begins a file that has no name yet. If sum is not nil, the caller adds all that it
	// writes to sum.
	Create(name string, sum hash.Hash) (Draft, error)
	// remove deletes files, the first one before the others. Missing files are ignored.
	Remove(names ...string) error
	// syncNames fsyncs the directories of shards and indexes so that renames are durable.
	SyncNames() error
	// exists reports whether a file of that name exists.
	Exists(name string) (bool, error)
	// existing returns the names that exist.
	Existing(names []string) ([]string, error)
	// list returns the base names of the files in a directory. A missing directory is empty.
	List(directory string) ([]string, error)
	// stamp returns what identifies a version of a file. If it is not a file, the error unwraps to
	// fs.ErrNotExist.
	Stamp(name string) (Stamp, error)
	// stamps returns the stamps of the names that exist.
	Stamps(names []string) (map[string]Stamp, error)
	// atOnce is the number of small files to read concurrently.
	AtOnce() int
	// temp creates a temporary file.
	Temp(prefix string) (*os.File, error)
	// sweep removes leftovers of killed runs. ours reports whether a name, in its final form, is
	// one of tfrec's.
	Sweep(ours func(name string) (bool, error)) error
	// leftovers returns the files that sweep would remove, except unimportant ones.
	Leftovers(ours func(name string) (bool, error)) ([]Leftover, error)
	// alone calls f while holding the lock named thing. It returns early, without calling f, if
	// unless reports true.
	Alone(ctx context.Context, thing string, unless func() (bool, error), f func() error) error
	// mkdir durably creates a directory below this one, with its parents. A symbolic link on the
	// way is an error. In a store it does nothing.
	Mkdir(name string) error
	// sub returns a directory below this one that shares its lock.
	Sub(name string) Directory
	// remote reports whether the directory is one of an object store.
	Remote() bool
	// context returns the context that bounds reads and writes in a store.
	Context() context.Context
	// close unlocks the directory.
	Close() error
}

// Draft is a file being written that has no name yet.
type Draft interface {
	io.Writer
	// clear removes the file that this one replaces.
	Clear() error
	// commit publishes the file under its name. Unless many is set, the name is durable on return;
	// otherwise only after syncNames.
	Commit(many bool) error
	// discard removes what was written. It does nothing after commit.
	Discard()
}

// Stamp identifies a version of a file without reading it.
type Stamp struct {
	Bytes   int64
	ModTime int64  // in nanoseconds since 1970
	Version string // of an object: its ETag or generation
}

// Options configures openPlace.
type Options struct {
	// Join shares the directory with other processes that join it.
	Join bool
	// Note, if not nil, is called with a human-readable message.
	Note func(sentence string)
}

// Open creates and locks the directory at loc until close.
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

// Inherit makes close of is also remove the directories that before, an earlier directory at the
// same path, had created, if they are empty.
func Inherit(is, before Directory) {
	now, ok := is.(*localDirectory)
	if was, local := before.(*localDirectory); ok && local {
		now.created = was.created
	}
}
