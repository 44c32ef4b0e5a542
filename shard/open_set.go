package shard

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// Where renames are available, replacing a set takes milliseconds. Readers wait for it for a while,
// then read the old set through its links; without links they wait longer.
const (
	changePatience = 2 * time.Second
	oldPatience    = 30 * time.Second
	changeWait     = 20 * time.Millisecond
)

// openSet opens the set in a directory. It returns nil if there is no manifest.
func openSet(ctx context.Context, dir storage.Location) (*Set, error) {
	for began := time.Now(); ; {
		change, err := setdir.Settle(ctx, dir)
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
				return nil, setdir.CannotOpen(dir.Path(), change)
			}
		}
		if err := par.Sleep(ctx, changeWait); err != nil {
			return nil, err
		}
	}
}

// readSet reads the manifest of a set, the old one during a replacement. It reports known false if
// a replacement began or ended meanwhile, so that it cannot tell which version it read, or if there
// are no links to the old files.
func readSet(ctx context.Context, dir storage.Location, c setdir.Change) (set *Set, known bool, err error) {
	before, err := journalOf(dir)
	if err != nil {
		return nil, true, err
	}
	set = &Set{Dir: dir.Path(), at: dir}
	if c != setdir.NoChange {
		err = set.readOld(ctx)
	} else {
		set.Manifest, err = manifest.Read(ctx, dir.Join(manifest.File).Path())
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

// journalOf returns the file info that identifies the journal of a set; nil if there is none.
func journalOf(dir storage.Location) (fs.FileInfo, error) {
	if dir.Remote() {
		return nil, nil
	}
	st, err := os.Lstat(dir.Join(setdir.JournalFile).Path())
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

// readOld makes s the set that is being replaced, using the links to its files.
func (s *Set) readOld(ctx context.Context) (err error) {
	if s.Manifest, err = manifest.Read(ctx, s.at.Join(setdir.OldDir, manifest.File).Path()); err != nil {
		return err
	}
	s.old = map[string]bool{}
	for _, sub := range []string{"", manifest.IndexDir + "/"} {
		names, err := setdir.ViewAt(ctx, s.at).List(setdir.OldDir + "/" + sub)
		if err != nil {
			return err
		}
		for _, name := range names {
			s.old[sub+name] = true
		}
	}
	return nil
}

// Replaced reports whether the set was replaced since it was opened, or is being replaced. It
// returns an error if ctx is done before that is known.
func (s *Set) Replaced(ctx context.Context) (bool, error) {
	if s.old == nil {
		if journal, err := journalOf(s.location()); err != nil || journal != nil {
			return true, nil
		}
	}
	m, err := manifest.Read(ctx, s.Path(manifest.File))
	if err != nil && ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err != nil || m.Fingerprint != s.Fingerprint, nil
}

// CheckUnchanged returns an error if a set of the sources was replaced since Expand returned them.
// Call it after reading the sources: otherwise the data may be from two versions of the set.
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
