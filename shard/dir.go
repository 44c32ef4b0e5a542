package shard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// ErrClosed means that a Dir or a Writer was used after it was closed, committed or aborted.
var ErrClosed = errors.New("already closed")

// Dir is an output directory of a set: a local one, or one in an object store when its path is a
// URL. Only one process can have it open. The lock of a local directory is tied to the process, so
// a killed process leaves no stale lock.
//
// In a directory without a set, a shard is in place when it is committed, and the set when PutSet
// has returned. A local directory with a set keeps it until PutSet replaces it in one step: shards
// committed before that are staged, and Close discards them. In an object store, where that is not possible,
// shards of other names can be added, and no file of the set can be replaced.
//
// A Dir is safe for concurrent use. Package write makes whole sets from records, and is easier.
type Dir struct {
	ctx context.Context
	at  *setdir.Dir
	old *manifest.Manifest // of the set in the directory; nil if there is none

	mu        sync.Mutex
	closed    bool
	staging   bool // shards go to the stage
	open      map[string]*Writer
	committed map[string]*Writer
}

// DirOptions configures OpenDir. The zero value is a sensible default.
type DirOptions struct {
	// Note, if not nil, is called with a human-readable message, such as that OpenDir is waiting
	// for a directory.
	Note func(sentence string)
}

// OpenDir creates the directory at path, with its parents, and locks it for this process until
// Close. Path may be the URL of a directory in an object store. Reads and writes fail when ctx is
// done. If another process holds the directory, the error unwraps to ErrBusy.
//
// If another process was interrupted while it replaced the set, OpenDir first completes the
// replacement.
func OpenDir(ctx context.Context, path string, o DirOptions) (*Dir, error) {
	at, err := setdir.Open(ctx, path, setdir.Options{Note: o.Note})
	if err != nil {
		return nil, err
	}
	old, err := at.Manifest()
	if err != nil {
		return nil, errors.Join(err, at.Close())
	}
	return &Dir{ctx: ctx, at: at, old: old, open: map[string]*Writer{}, committed: map[string]*Writer{}}, nil
}

// Path returns the directory as it was given to OpenDir.
func (d *Dir) Path() string { return d.at.Path() }

// Manifest reads the directory's manifest. It returns nil if there is none.
func (d *Dir) Manifest() (*manifest.Manifest, error) { return d.at.Manifest() }

// Close unlocks the directory. Writers that were neither committed nor aborted are aborted, and named
// in the error; staged shards are discarded. Close removes the directories that OpenDir created if
// they contain nothing but the lock and no other process uses them. Further calls do nothing.
func (d *Dir) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	open := slices.SortedFunc(maps.Values(d.open), func(a, b *Writer) int { return strings.Compare(a.file, b.file) })
	d.mu.Unlock()

	var lost []string
	for _, w := range open {
		if w.abort() { // unless it is being committed
			lost = append(lost, w.file)
		}
	}
	var errs []error
	if len(lost) > 0 {
		errs = append(errs, fmt.Errorf("%s: %s not committed: its records are lost", d.Path(), strings.Join(lost, ", ")))
	}
	if d.staging {
		errs = append(errs, d.at.Staged().Discard())
	}
	return errors.Join(append(errs, d.at.Close())...)
}

// Create starts a shard. Its name must be one of a TFRecord file, such as
// birds-train.tfrecord-00000-of-00016, and no other shard of this Dir may have it, unless that was
// aborted. An existing shard of that name stays until Commit, or until PutSet if it belongs to a set.
func (d *Dir) Create(file string, o WriterOptions) (*Writer, error) {
	if err := setdir.CheckName(file); err != nil {
		return nil, err
	}
	if !isRecordName(file) {
		return nil, fmt.Errorf("%q is not a shard name: want one such as birds-train.tfrecord-00000-of-00016", file)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, fmt.Errorf("create %s: the directory %s is %w", file, d.Path(), ErrClosed)
	case d.open[file] != nil || d.committed[file] != nil:
		return nil, fmt.Errorf("create %s: another shard of %s has that name", file, d.Path())
	}
	to, err := d.target(file)
	if err != nil {
		return nil, err
	}
	at, err := to.Create(file, setdir.WriterOptions(o))
	if err != nil {
		return nil, err
	}
	w := newWriter(d, file, o, at)
	d.open[file] = w
	return w, nil
}

// target returns where a shard is written to. The caller holds mu.
func (d *Dir) target(file string) (*setdir.Dir, error) {
	switch {
	case d.old == nil:
		return d.at, nil
	case d.at.Remote():
		if slices.Contains(d.old.Files(), file) {
			return nil, fmt.Errorf("create %s: it belongs to the set in %s, and a set in an object store cannot be replaced in one step: give the shard another name, or write to a new directory", file, d.Path())
		}
		return d.at, nil
	case !d.staging:
		if err := d.at.Staged().Discard(); err != nil {
			return nil, err
		}
		d.staging = true
	}
	return d.at.Stage(), nil
}

// isRecordName reports whether a file of that name is read as TFRecords.
func isRecordName(name string) bool {
	return (tfrecordName(name) || otherHabit(name)) && !Describes(name)
}
