package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/atomicfile"
)

// ErrBusy says that another process is writing into the folder.
var ErrBusy = errors.New("another tfrec is writing into this folder; wait for it to end, or choose another one")

// Dir is a folder that a set is written into. One process at a time has it:
// the lock goes with the process, so a dead one leaves none behind.
type Dir struct {
	path    string
	lock    *os.File // nil: only looked at
	created []string // folders that OpenDir made, the outermost first
}

// OpenDir makes the folder at path with what leads to it, and locks it.
// It returns an error that unwraps to ErrBusy when another process has it.
func OpenDir(path string) (*Dir, error) {
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
	if err := d.take(); err != nil {
		return nil, err
	}
	return d, nil
}

// take locks the lock file. The file may go, with a process that leaves no
// trace, between being opened and being locked: then it begins anew.
func (d *Dir) take() error {
	path := d.join(lockFile)
	for {
		lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return fmt.Errorf("lock the output folder: %w", err)
		}
		if err := atomicfile.Lock(lock); err != nil {
			lock.Close()
			if errors.Is(err, atomicfile.ErrLocked) {
				err = ErrBusy
			}
			return fmt.Errorf("%s: %w", d.path, err)
		}
		locked, err1 := lock.Stat()
		named, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(locked, named) {
			d.lock = lock
			return nil
		}
		lock.Close()
	}
}

// ViewDir is for looking at a folder, which need not be there: it takes no
// lock, and nothing must be written through it.
func ViewDir(path string) *Dir { return &Dir{path: path} }

const lockFile = StateDir + "/lock"

// Path returns the folder as OpenDir was given it.
func (d *Dir) Path() string { return d.path }

// Close gives the folder back. Folders that OpenDir made go, when nothing but
// its lock was put into them.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	if len(d.created) > 0 {
		if entries, err := os.ReadDir(d.join(StateDir)); err == nil && len(entries) == 1 {
			os.Remove(d.join(lockFile)) // best effort: a lock file left behind does no harm
			for i := len(d.created) - 1; i >= 0 && os.Remove(d.created[i]) == nil; i-- {
			}
		}
	}
	return d.lock.Close()
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
		switch err := os.Remove(path); {
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
	os.Remove(d.join(IndexDir)) // fails, as it should, when it still holds an index
	return nil
}

// Exists reports whether the folder holds a file of that name.
func (d *Dir) Exists(name string) bool {
	_, err := os.Lstat(d.join(name))
	return err == nil
}

// Sweep removes what a killed run left half written.
func (d *Dir) Sweep() error {
	if err := os.RemoveAll(d.join(StateDir + "/tmp")); err != nil {
		return fmt.Errorf("sweep temporary files: %w", err)
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
