package place

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// localDirectory is a directory of the file system.
type localDirectory struct {
	ctx     context.Context // has the hook of tests; does not bound reads and writes
	path    string
	set     string   // directory of the whole set: path, or a parent of it
	lock    *os.File // nil for a view, or below a locked directory
	created []string // directories that openLocal created, outermost first
	*shared
}

// shared is the state that a directory shares with the directories below it.
type shared struct {
	cached *osfile.CacheShare
	syncs  *dirSyncs
	made   sync.Map // paths of directories below StateDir that mkdir made or found
}

const LockFile = StateDir + "/lock"

// TogetherDir has a lock file for each thing that joined processes must do one after another.
const TogetherDir = StateDir + "/together"

// openLocal creates a directory and locks it. If it fails, it removes the directories that it
// created.
func openLocal(ctx context.Context, path string, o Options) (_ *localDirectory, err error) {
	lock := atomicfile.Lock
	if o.Join {
		lock = atomicfile.LockShared
	}
	l := &localDirectory{ctx: ctx, path: path, set: path, shared: &shared{cached: osfile.NewCacheShare(memory.Limit() / 4), syncs: newDirSyncs()}}
	state := filepath.Join(path, StateDir)
	for dir := state; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		l.created = append([]string{dir}, l.created...)
	}
	if err := refuseLinks(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.removeCreated()
		}
	}()
	err = atomicfile.MkdirAll(path, 0o755)
	if err == nil {
		err = l.Mkdir(StateDir)
	}
	if err != nil {
		return nil, fmt.Errorf("make the output directory: %w", err)
	}
	f, err := osfile.Lock(l.join(LockFile), 0o644, lock)
	if err != nil {
		if errors.Is(err, atomicfile.ErrLocked) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.lock = f
	return l, nil
}

func (l *localDirectory) join(name string) string {
	return filepath.Join(l.path, filepath.FromSlash(name))
}

func (l *localDirectory) Context() context.Context { return l.ctx }

func (l *localDirectory) Remote() bool { return false }

func (l *localDirectory) Sub(name string) Directory {
	return &localDirectory{ctx: l.ctx, path: l.join(name), set: l.set, shared: l.shared}
}

func (l *localDirectory) Alone(ctx context.Context, thing string, unless func() (bool, error), f func() error) error {
	if err := l.Mkdir(TogetherDir); err != nil {
		return err
	}
	for {
		lock, err := osfile.Lock(l.join(TogetherDir+"/"+thing), 0o644, atomicfile.Lock)
		if err == nil {
			defer lock.Close()
			return f()
		}
		if !errors.Is(err, atomicfile.ErrLocked) {
			return err
		}
		if err := par.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if done, err := unless(); done || err != nil {
			return err
		}
	}
}

// Close unlocks the directory. It removes the directories that openLocal created if they contain
// nothing but locks and no other process has joined.
func (l *localDirectory) Close() error {
	if l.lock == nil {
		return nil
	}
	if len(l.created) > 0 && atomicfile.Lock(l.lock) == nil {
		if entries, err := os.ReadDir(l.join(StateDir)); err == nil && onlyLocks(entries) {
			os.RemoveAll(l.join(TogetherDir)) // best effort: a leftover lock file is harmless
			os.Remove(l.join(LockFile))
			l.removeCreated()
		}
	}
	return l.lock.Close()
}

// removeCreated removes the directories that openLocal created, innermost first, stopping at one
// that is not empty.
func (l *localDirectory) removeCreated() {
	for i := len(l.created) - 1; i >= 0; i-- {
		if err := os.Remove(l.created[i]); err != nil && !storage.Missing(err) {
			return
		}
	}
}

func onlyLocks(entries []fs.DirEntry) bool {
	for _, e := range entries {
		if name := StateDir + "/" + e.Name(); name != LockFile && name != TogetherDir {
			return false
		}
	}
	return true
}

func (l *localDirectory) Put(name string, data []byte) error {
	write := func() error {
		f, err := l.Temp(path.Base(name))
		if err != nil {
			return err
		}
		return atomicfile.Fill(f, l.join(name), data)
	}
	if err := l.inDir(path.Dir(name), write); err != nil {
		return err
	}
	return l.syncs.sync(filepath.Dir(l.join(name)))
}

func (l *localDirectory) Remove(names ...string) error {
	below, err := filepath.Rel(l.set, l.path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(l.set) // so that no link leads out of the set
	if storage.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	touched := map[string]bool{}
	for _, name := range names {
		path := l.join(name)
		err := inject.Fault(l.ctx, "remove", path)
		if err == nil {
			err = root.Remove(filepath.Join(below, filepath.FromSlash(name)))
		}
		switch {
		case err == nil:
			touched[filepath.Dir(path)] = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for dir := range touched {
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
	}
	// Only if something was removed from it: another joined process may have created it for its
	// index.
	if indexes := l.join(manifest.IndexDir); touched[indexes] {
		os.Remove(indexes) // fails, as intended, if it is not empty
	}
	return nil
}

func (l *localDirectory) SyncNames() error {
	err := atomicfile.SyncDir(l.join(manifest.IndexDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.SyncDir(l.path)
}

func (l *localDirectory) Exists(name string) (bool, error) { return osfile.Exists(l.ctx, l.join(name)) }

func (l *localDirectory) Existing(names []string) ([]string, error) {
	var there []string
	for _, name := range names {
		is, err := l.Exists(name)
		if err != nil {
			return nil, err
		}
		if is {
			there = append(there, name)
		}
	}
	return there, nil
}

func (l *localDirectory) List(directory string) ([]string, error) {
	entries, err := os.ReadDir(l.join(directory))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (l *localDirectory) Stamp(name string) (Stamp, error) {
	st, err := os.Stat(l.join(name))
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "stat", Path: l.join(name), Err: fs.ErrNotExist}
	}
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{Bytes: st.Size(), ModTime: st.ModTime().UnixNano()}, nil
}

func (l *localDirectory) Stamps(names []string) (map[string]Stamp, error) {
	found := make(map[string]Stamp, len(names))
	for _, name := range names {
		s, err := l.Stamp(name)
		if err != nil && !storage.Missing(err) {
			return nil, err
		}
		if err == nil {
			found[name] = s
		}
	}
	return found, nil
}

func (l *localDirectory) AtOnce() int { return 1 }

func (l *localDirectory) Sweep(func(string) (bool, error)) error {
	for _, dir := range []string{TempDir, TogetherDir} {
		if err := os.RemoveAll(l.join(dir)); err != nil {
			return err
		}
	}
	return nil
}

func (l *localDirectory) Leftovers(func(string) (bool, error)) ([]Leftover, error) {
	entries, err := os.ReadDir(l.join(TempDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var left []Leftover
	for _, e := range entries {
		st, err := e.Info()
		if err != nil {
			return nil, err
		}
		left = append(left, Leftover{Kind: LeftTemporary, Name: TempDir + "/" + e.Name(), Bytes: st.Size(), Begun: st.ModTime()})
	}
	return left, nil
}

// TempDir is the directory for files that have no final name yet. It is inside the output
// directory, so that renames never cross file systems, and its name matches no glob for shards.
const TempDir = StateDir + "/tmp"

func (l *localDirectory) Temp(prefix string) (f *os.File, err error) {
	err = l.inDir(TempDir, func() (err error) {
		f, err = os.CreateTemp(l.join(TempDir), prefix+".*")
		return err
	})
	return f, err
}

func (l *localDirectory) Create(name string, _ hash.Hash) (Draft, error) {
	f, err := l.Temp(path.Base(name))
	if err != nil {
		return nil, err
	}
	return &localDraft{Drained: osfile.NewDrained(l.ctx, f, l.cached), path: l.join(name), in: l, dir: path.Dir(name)}, nil
}

// localDraft is a file in TempDir. It makes the kernel start writeback early, so that the final
// sync is short.
type localDraft struct {
	*osfile.Drained
	path string // final path
	in   *localDirectory
	dir  string // parent of the final name, created on commit
}

func (d *localDraft) Clear() error { return atomicfile.Remove(d.path) }

func (d *localDraft) Commit(many bool) error {
	if err := d.Finish(); err != nil {
		return err
	}
	if d.dir != "." {
		if err := d.in.Mkdir(d.dir); err != nil {
			return err
		}
	}
	if err := inject.Fault(d.in.ctx, "place", d.path); err != nil {
		return err
	}
	if err := atomicfile.Rename(d.F, d.path); err != nil || many {
		return err
	}
	return d.in.syncs.sync(filepath.Dir(d.path))
}

func (d *localDraft) Discard() { atomicfile.Discard(d.F) }
