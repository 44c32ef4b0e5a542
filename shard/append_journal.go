package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/atomicfile"
)

// An append first writes all that is new into a folder of its own below .tfrec:
// shards, indexes, metadata and the manifest, whole and synced. Then a journal
// says which files get which names. From there on the set changes, by renames
// alone, the manifest last; whoever comes after a crash finishes the list.
// Until then the old manifest names files that are gone, so that nobody takes a
// part of the set for the whole of it.

const (
	stageDir    = StateDir + "/append"
	journalFile = StateDir + "/append.json"

	journalFormat  = "tfrec.append"
	journalVersion = 1
)

// journal is what an append will do to a set.
type journal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Request tells the same append from others.
	Request string `json:"request"`
	// Replaces says that a whole set takes the place of another.
	Replaces bool `json:"replaces,omitempty"`
	// Moves are carried out in their order; the last one is the manifest's.
	Moves []move `json:"moves"`
	// Remove names files that the new set no longer has.
	Remove []string `json:"remove,omitempty"`
	// Report is what the append says when it is done.
	Report AppendReport `json:"report"`
}

// move is a rename of a file, both names relative to the folder of the set.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// appendJournal reads the journal of an append that was interrupted; nil when
// there is none. One that cannot be used is an error: the set is half changed.
func (d *Dir) appendJournal() (*journal, error) {
	if begun, err := d.Exists(journalFile); !begun || err != nil {
		return nil, err
	}
	j := new(journal)
	usable, err := d.readState(journalFile, j)
	if err != nil {
		return nil, err
	}
	if !usable || j.Format != journalFormat || j.Version != journalVersion || len(j.Moves) == 0 {
		return nil, fmt.Errorf("%s: not the journal of an append that this tfrec can finish: use the one that began it", d.join(journalFile))
	}
	for _, m := range j.Moves {
		if !filepath.IsLocal(filepath.FromSlash(m.From)) || !filepath.IsLocal(filepath.FromSlash(m.To)) {
			return nil, fmt.Errorf("%s: it moves %q to %q, outside of the folder", d.join(journalFile), m.From, m.To)
		}
	}
	return j, nil
}

// checkAppended refuses a set that an append was changing when it was stopped.
func (d *Dir) checkAppended() error {
	begun, err := d.Exists(journalFile)
	if err == nil && begun {
		err = fmt.Errorf("%s was being appended to, or replaced, when that was stopped, or is now: tfrec append %[1]s finishes it", d.path)
	}
	return err
}

// beginAppend writes the journal. With it, the append is decided.
func (d *Dir) beginAppend(j *journal) error {
	for _, m := range j.Moves {
		if isMetadata(m.To) {
			continue // replaced
		}
		taken, err := d.Exists(m.To)
		if err != nil {
			return err
		}
		if taken {
			return fmt.Errorf("%s is in the way, and the manifest does not name it: move it", d.join(m.To))
		}
	}
	return d.putJournal(j)
}

// putJournal writes a journal.
func (d *Dir) putJournal(j *journal) error {
	j.Format, j.Version = journalFormat, journalVersion
	return d.putState(journalFile, j)
}

// isMetadata reports whether a set has a file of that name whatever its shards
// are called.
func isMetadata(name string) bool { return filepath.Dir(name) == "." && describes(name) }

// abandonAppend takes back what was not decided on. A journal may be there
// although writing it failed at the very end: it goes before what it names.
func (d *Dir) abandonAppend() error {
	if err := atomicfile.Remove(d.join(journalFile)); err != nil {
		return err
	}
	return d.clearStage()
}

// finishAppend does what is left of a journal. Each part of it may have been done
// before; the journal goes when all is.
func (d *Dir) finishAppend(j *journal) error {
	for i, m := range j.Moves {
		if i == len(j.Moves)-1 {
			// The manifest names files, which must be there before it.
			if err := d.syncFolders(j.Moves); err != nil {
				return err
			}
		}
		if err := d.move(m); err != nil {
			return err
		}
	}
	if err := d.syncFolders(j.Moves); err != nil {
		return err
	}
	if err := d.Remove(j.Remove...); err != nil {
		return err
	}
	// What convert knew of its shards is of those of other names.
	if err := forget(d); err != nil {
		return err
	}
	if err := atomicfile.Remove(d.join(journalFile)); err != nil {
		return err
	}
	return d.clearStage()
}

// move renames a file, if it has not been yet.
func (d *Dir) move(m move) error {
	if err := attempted("rename", d.join(m.To)); err != nil {
		return err
	}
	to := d.join(m.To)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Rename(d.join(m.From), to)
	if errors.Is(err, fs.ErrNotExist) {
		if done, err := d.Exists(m.To); done || err != nil {
			return err // nil: it was done before
		}
	}
	return err
}

// syncFolders makes the names in the folders that files were moved to durable.
func (d *Dir) syncFolders(moves []move) error {
	done := map[string]bool{}
	for _, m := range moves {
		dir := filepath.Dir(d.join(m.To))
		if done[dir] {
			continue
		}
		done[dir] = true
		if err := atomicfile.SyncDir(dir); err != nil && !notThere(err) {
			return err
		}
	}
	return nil
}

// clearStage removes what an append wrote that was not decided on.
func (d *Dir) clearStage() error {
	if err := os.RemoveAll(d.join(stageDir)); err != nil {
		return err
	}
	os.Remove(d.join(shardsDir)) // fails, as it should, when something is known of shards
	return d.Sweep()
}
