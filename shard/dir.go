package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
)

// ErrBusy says that another process is writing into the folder.
var ErrBusy = errors.New("another tfrec is writing into this folder; wait for it to end, or choose another one")

// Dir is a folder that a set is written into. One process at a time has it, or
// several that join in making one set: the lock goes with the process, so a
// dead one leaves none behind.
type Dir struct {
	path    string
	lock    *os.File // nil: only looked at
	created []string // folders that opening it made, the outermost first
}

// OpenDir makes the folder at path with what leads to it, and locks it.
// It returns an error that unwraps to ErrBusy when another process has it.
func OpenDir(path string) (*Dir, error) { return openDir(path, atomicfile.Lock) }

// JoinDir is OpenDir for one of several processes that make shards of the same
// set at the same time, such as the tasks of an array job: they share the
// folder, and keep out those that want it for themselves. None of them may
// sweep it.
func JoinDir(path string) (*Dir, error) { return openDir(path, atomicfile.LockShared) }

func openDir(path string, lock func(*os.File) error) (*Dir, error) {
	if err := storage.CheckOutput(path); err != nil {
		return nil, err
	}
	d := &Dir{path: path}
	state := filepath.Join(path, StateDir)
	for dir := state; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		d.created = append([]string{dir}, d.created...)
	}
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, fmt.Errorf("make the output folder: %w", err)
	}
	f, err := take(d.join(lockFile), lock)
	if err != nil {
		if errors.Is(err, atomicfile.ErrLocked) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.lock = f
	return d, nil
}

// take opens and locks a file. It may go, with a process that leaves no trace,
// between being opened and being locked: then it begins anew.
func take(path string, lock func(*os.File) error) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, fmt.Errorf("lock the output folder: %w", err)
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		locked, err1 := f.Stat()
		named, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(locked, named) {
			return f, nil
		}
		f.Close()
	}
}

// togetherDir has a lock for each thing that processes that joined do one after
// another.
const togetherDir = StateDir + "/together"

// Alone calls f while no other process that joined is in Alone for the same
// thing, which is a plain file name. It waits for them, as long as ctx is not
// done.
func (d *Dir) Alone(ctx context.Context, thing string, f func() error) error {
	if err := checkName(thing); err != nil {
		return err
	}
	if err := os.MkdirAll(d.join(togetherDir), 0o755); err != nil {
		return err
	}
	for {
		lock, err := take(d.join(togetherDir+"/"+thing), atomicfile.Lock)
		if err == nil {
			defer lock.Close()
			return f()
		}
		if !errors.Is(err, atomicfile.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ViewDir is for looking at a folder, which need not be there: it takes no
// lock, and nothing must be written through it.
func ViewDir(path string) *Dir { return &Dir{path: path} }

const lockFile = StateDir + "/lock"

// Path returns the folder as OpenDir was given it.
func (d *Dir) Path() string { return d.path }

// Close gives the folder back. Folders that opening it made go, when nothing
// but its lock was put into them and nobody else has joined.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	if len(d.created) > 0 && atomicfile.Lock(d.lock) == nil {
		if entries, err := os.ReadDir(d.join(StateDir)); err == nil && onlyLocks(entries) {
			os.RemoveAll(d.join(togetherDir)) // best effort: a lock file left behind does no harm
			os.Remove(d.join(lockFile))
			for i := len(d.created) - 1; i >= 0 && os.Remove(d.created[i]) == nil; i-- {
			}
		}
	}
	return d.lock.Close()
}

func onlyLocks(entries []fs.DirEntry) bool {
	for _, e := range entries {
		if name := StateDir + "/" + e.Name(); name != lockFile && name != togetherDir {
			return false
		}
	}
	return true
}

// Manifest reads the folder's manifest. It is nil when there is none.
func (d *Dir) Manifest() (*Manifest, error) {
	m, err := ReadManifest(d.join(ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// Put writes a file of the set, such as the manifest, whole or not at all.
// The name is relative to the folder.
func (d *Dir) Put(name string, data []byte) error {
	if err := attempted("put", d.join(name)); err != nil {
		return err
	}
	temp, err := d.tempDir()
	if err != nil {
		return err
	}
	return atomicfile.Write(temp, d.join(name), data)
}

// Remove deletes files of the set by their names relative to the folder.
// Names that are not there are fine; names that lead out of the folder are
// refused. A folder for indexes that is left empty goes too.
func (d *Dir) Remove(names ...string) error {
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("refuse to remove %q: it lies outside %s", name, d.path)
		}
	}
	touched := map[string]bool{}
	for _, name := range names {
		path := d.join(name)
		err := attempted("remove", path)
		if err == nil {
			err = os.Remove(path)
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
	// Not without need: one who joined may have made it for an index to come.
	if indexes := d.join(IndexDir); touched[indexes] {
		os.Remove(indexes) // fails, as it should, when it still holds an index
	}
	return nil
}

// Exists reports whether the folder holds a file of that name.
func (d *Dir) Exists(name string) bool {
	_, err := os.Lstat(d.join(name))
	return err == nil
}

// Sweep removes what a killed run left half written, and locks that only
// processes that joined have a use for.
func (d *Dir) Sweep() error {
	for _, dir := range []string{StateDir + "/tmp", togetherDir} {
		if err := os.RemoveAll(d.join(dir)); err != nil {
			return fmt.Errorf("sweep temporary files: %w", err)
		}
	}
	return nil
}

func (d *Dir) join(name string) string {
	return filepath.Join(d.path, filepath.FromSlash(name))
}

// tempDir returns the folder for files that have no final name yet. It lies
// inside OUT, so that a rename never crosses file systems, and under a name
// that no glob for shards matches.
func (d *Dir) tempDir() (string, error) {
	temp := d.join(StateDir + "/tmp")
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return "", err
	}
	return temp, nil
}

// checkName refuses names that are not plain file names.
func checkName(file string) error {
	if file == "" || file == "." || strings.ContainsAny(file, `/\`) || !filepath.IsLocal(file) {
		return fmt.Errorf("%q is no name for a shard: want a plain file name", file)
	}
	return nil
}
