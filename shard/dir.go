package shard

import (
	"context"

	"github.com/tfrec/tfrec/internal/setdir"
)

// Dir is a directory that a set is written into: one of the file system, or one of an object store
// when its path is a URL. One process at a time has it. The lock of a local directory goes with
// the process, so that one which was killed leaves none behind.
type Dir struct{ at *setdir.Dir }

// DirOptions say how a directory is opened. The zero value is a sensible default.
type DirOptions struct {
	// Note is called with a sentence for people, such as that a directory is waited for, if it
	// is not nil.
	Note func(sentence string)
}

// OpenDir makes the directory at path with what leads to it, and takes it: it belongs to this
// process until Close. Path may be the URL of a directory in an object store; what is read and
// written there is given up when ctx is done. It returns an error that unwraps to ErrBusy when
// another process has it.
//
// A change of the set there that another process began and did not complete is completed first.
func OpenDir(ctx context.Context, path string, o DirOptions) (*Dir, error) {
	d, err := setdir.Open(ctx, path, setdir.Options{Note: o.Note, Names: ManifestFiles})
	if err != nil {
		return nil, err
	}
	return &Dir{d}, nil
}

// Path returns the directory as OpenDir was given it.
func (d *Dir) Path() string { return d.at.Path() }

// Close gives the directory back. It removes directories that opening it made, if nothing but its
// lock was put into them and nobody else has joined.
func (d *Dir) Close() error { return d.at.Close() }

// Manifest reads the directory's manifest. It is nil when there is none.
func (d *Dir) Manifest() (*Manifest, error) { return ManifestIn(d.at) }

// PutSet writes the files of a set that say what its shards are: those that TFDS reads, or their
// removal when TFDS cannot read this set, and last the manifest.
func (d *Dir) PutSet(m *Manifest) error { return PutSet(d.at, m) }

// Put writes a file of the set, whole or not at all. The name is relative to the directory.
func (d *Dir) Put(name string, data []byte) error { return d.at.Put(name, data) }

// Read returns a file of the set, whose name is relative to the directory. More than limit bytes
// are an error.
func (d *Dir) Read(name string, limit int64) ([]byte, error) { return d.at.Read(name, limit) }

// Exists reports whether the directory has a file of that name. An error says that this could not
// be found out.
func (d *Dir) Exists(name string) (bool, error) { return d.at.Exists(name) }

// Remove deletes files of the set by their names relative to the directory, in order. Names that
// are not there are fine; names that lead out of the directory are refused.
func (d *Dir) Remove(names ...string) error { return d.at.Remove(names...) }

// Create starts a shard with that file name, which must be a plain file name. An existing shard of
// that name stays until Commit.
func (d *Dir) Create(file string, o WriterOptions) (*Writer, error) {
	w, err := d.at.Create(file, setdir.WriterOptions(o))
	if err != nil {
		return nil, err
	}
	return &Writer{w}, nil
}
