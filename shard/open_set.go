package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// A change of a set takes milliseconds where renames do. Readers wait for it a while,
// then read the old set, which is there as links, and wait longer where there are none.
const (
	changePatience = 2 * time.Second
	oldPatience    = 30 * time.Second
	changeWait     = 20 * time.Millisecond
)

// openSet opens the set in a directory; nil when it has no manifest.
func openSet(ctx context.Context, dir string) (*Set, error) {
	for began := time.Now(); ; {
		change, err := setdir.Settle(ctx, dir, setdir.Options{Names: ManifestFiles})
		if err != nil {
			return nil, err
		}
		waited := time.Since(began)
		if change != setdir.Changing || waited > changePatience {
			set, known, err := readSet(ctx, dir, change)
			if known {
				return set, err
			}
			if waited > oldPatience || change == setdir.Stuck {
				return nil, CannotOpen(dir, change)
			}
		}
		if err := par.Sleep(ctx, changeWait); err != nil {
			return nil, err
		}
	}
}

// errStuck says that a change of a set was begun, and is to be completed by somebody else.
var errStuck = errors.New("partly replaced, since the process replacing it was stopped; repair.Clean completes it when run by a user with write permission")

// CannotOpen is the error of a set that is being changed, and has no links to its old
// files.
func CannotOpen(dir string, c setdir.Change) error {
	if c == setdir.Stuck {
		return fmt.Errorf("%s: %w", dir, errStuck)
	}
	return fmt.Errorf("%s: %w", dir, ErrBusy)
}

// readSet reads the manifest of a set, the old one during a change. It is not known
// which one that is when a change began or ended meanwhile, or when there are no links
// to the old files.
func readSet(ctx context.Context, dir string, c setdir.Change) (set *Set, known bool, err error) {
	before, err := journalOf(dir)
	if err != nil {
		return nil, true, err
	}
	set = &Set{Dir: dir}
	if c != setdir.NoChange {
		err = set.readOld(ctx)
	} else {
		set.Manifest, err = ReadManifest(ctx, storage.Join(dir, ManifestFile))
	}
	after, failed := journalOf(dir)
	switch {
	case failed != nil:
		return nil, true, failed
	case (c != setdir.NoChange) != (before != nil), !sameJournal(before, after):
		return nil, false, nil
	case c != setdir.NoChange && storage.Missing(err):
		return nil, false, nil
	case storage.Missing(err):
		return nil, true, nil
	case err != nil:
		return nil, true, err
	}
	return set, true, nil
}

// journalOf returns what the journal of a set is known by; nil if there is none.
func journalOf(dir string) (fs.FileInfo, error) {
	if storage.Remote(dir) {
		return nil, nil
	}
	st, err := os.Lstat(storage.Join(dir, setdir.JournalFile))
	if storage.Missing(err) {
		return nil, nil
	}
	return st, err
}

func sameJournal(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

// readOld makes s the set that is being replaced, from the links to its files.
func (s *Set) readOld(ctx context.Context) (err error) {
	if s.Manifest, err = ReadManifest(ctx, storage.Join(s.Dir, setdir.OldDir+"/"+ManifestFile)); err != nil {
		return err
	}
	s.old = map[string]bool{}
	for _, sub := range []string{"", IndexDir + "/"} {
		names, err := setdir.View(ctx, s.Dir).List(setdir.OldDir + "/" + sub)
		if err != nil {
			return err
		}
		for _, name := range names {
			s.old[sub+name] = true
		}
	}
	return nil
}

// Replaced reports whether another version has taken the place of the set since it was
// opened, or is about to. It returns an error when ctx is done before that is known.
func (s *Set) Replaced(ctx context.Context) (bool, error) {
	if s.old == nil {
		if journal, err := journalOf(s.Dir); err != nil || journal != nil {
			return true, nil
		}
	}
	m, err := ReadManifest(ctx, s.Path(ManifestFile))
	if err != nil && ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err != nil || m.Fingerprint != s.Fingerprint, nil
}

// CheckUnchanged returns an error if one of the sets that sources are of was replaced
// since Expand returned them. Those who read the sources call it at the end: what they
// have read may otherwise be of two versions of the set.
func CheckUnchanged(ctx context.Context, sources []Source) error {
	asked := map[*Set]bool{}
	for _, source := range sources {
		set := source.Set
		if set == nil || asked[set] {
			continue
		}
		asked[set] = true
		replaced, err := set.Replaced(ctx)
		if err != nil {
			return err
		}
		if replaced {
			return fmt.Errorf("%s was replaced while it was read: run the command again", set.Dir)
		}
	}
	return nil
}
