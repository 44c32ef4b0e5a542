package shard

import (
	"context"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// Dir is an output directory of a set: a local one, or one in an object store when its path is a
// URL. Only one process can have it open. The lock of a local directory is tied to the process, so
// a killed process leaves no stale lock.
type Dir struct{ at *setdir.Dir }

// DirOptions configures OpenDir. The zero value is a sensible default.
type DirOptions struct {
	// Note, if not nil, is called with a human-readable message, such as that OpenDir is waiting
	// for a directory.
	Note func(sentence string)
}

// OpenDir creates the directory at path, with its parents, and locks it for this process until
// Close. Path may be the URL of a directory in an object store; reads and writes there are
// cancelled when ctx is done. If another process holds the directory, the error unwraps to ErrBusy.
//
// If another process was interrupted while it replaced the set, OpenDir first completes the
// replacement.
func OpenDir(ctx context.Context, path string, o DirOptions) (*Dir, error) {
	d, err := setdir.Open(ctx, path, setdir.Options{Note: o.Note})
	if err != nil {
		return nil, err
	}
	return &Dir{d}, nil
}

// Path returns the directory as it was given to OpenDir.
func (d *Dir) Path() string { return d.at.Path() }

// Close unlocks the directory. It removes the directories that OpenDir created if they contain
// nothing but the lock and no other process uses them.
func (d *Dir) Close() error { return d.at.Close() }

// Manifest reads the directory's manifest. It returns nil if there is none.
func (d *Dir) Manifest() (*manifest.Manifest, error) { return d.at.Manifest() }

// PutSet writes the files that describe the set: first those for TFDS, which it removes instead if
// TFDS cannot read this set, and last the manifest.
func (d *Dir) PutSet(m *manifest.Manifest) error { return d.at.PutSet(m) }

// Put writes a file of the set atomically. The name is relative to the directory.
func (d *Dir) Put(name string, data []byte) error { return d.at.Put(name, data) }

// Read returns the content of a file of the set. The name is relative to the directory. A file of
// more than limit bytes is an error.
func (d *Dir) Read(name string, limit int64) ([]byte, error) { return d.at.Read(name, limit) }

// Exists reports whether the directory has a file of that name. It returns an error if it cannot
// tell.
func (d *Dir) Exists(name string) (bool, error) { return d.at.Exists(name) }

// Remove deletes files of the set in order. Names are relative to the directory. Missing files are
// ignored; names outside the directory are an error.
func (d *Dir) Remove(names ...string) error { return d.at.Remove(names...) }

// Create starts a shard. The name must be a plain file name. An existing shard of that name stays
// until Commit.
func (d *Dir) Create(file string, o WriterOptions) (*Writer, error) {
	w, err := d.at.Create(file, setdir.WriterOptions(o))
	if err != nil {
		return nil, err
	}
	return &Writer{w}, nil
}
