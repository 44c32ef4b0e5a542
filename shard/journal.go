package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/storage"
)

// A set on a local disk changes in one step. Everything new is written below the
// stage first, whole and synced. Then a journal says which files get which names and
// which files go. The journal is the decision: before it is durable the set is the old
// one; after it, whoever opens the directory for writing carries out what is left of
// it, by renames alone, the manifest last. While a living process does that, links to
// the old files let others read the old set.

const (
	stageDir    = StateDir + "/stage"
	oldDir      = StateDir + "/old"
	journalFile = StateDir + "/journal.json"

	journalFormat  = "tfrec.journal"
	journalVersion = 1
)

// journal is a change of a set.
type journal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Request identifies an append, so that the same one is not done twice.
	Request string `json:"request,omitempty"`
	// Moves are carried out in order; the last one is the manifest's.
	Moves []move `json:"moves"`
	// Remove names files that the new set no longer has.
	Remove []string `json:"remove,omitempty"`
	// KeepState leaves what is recorded of the shards under .tfrec, which Moves
	// brought up to date.
	KeepState bool `json:"keep_state,omitempty"`
	// Report is what an append says when it is done.
	Report AppendReport `json:"report"`
}

// move is a rename of a file, both names relative to the directory of the set.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// readJournal returns the journal of a change that is not complete; nil when there is
// none. A journal that cannot be used is an error, since the set may be half changed.
func (d *Dir) readJournal() (*journal, error) {
	begun, err := d.Exists(journalFile)
	if !begun || err != nil {
		return nil, err
	}
	j := new(journal)
	usable, err := d.readState(journalFile, j)
	if err != nil {
		return nil, err
	}
	if !usable || j.Format != journalFormat || j.Version != journalVersion || len(j.Moves) == 0 {
		return nil, fmt.Errorf("%s: not a journal that this version of tfrec can complete: use the version that wrote it", d.join(journalFile))
	}
	local := func(name string) error {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s: names %q, which is outside the directory", d.join(journalFile), name)
		}
		return nil
	}
	for _, m := range j.Moves {
		if err := errors.Join(local(m.From), local(m.To)); err != nil {
			return nil, err
		}
	}
	for _, name := range j.Remove {
		if err := local(name); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// begin decides on a change: it links the old files, and writes the journal.
func (d *Dir) begin(j *journal) error {
	d.linkOld(j)
	j.Format, j.Version = journalFormat, journalVersion
	return d.putState(journalFile, j)
}

// linkOld links the files that a change takes away below oldDir, the manifest among
// them. Where the file system has no links, others wait until the change is done.
func (d *Dir) linkOld(j *journal) {
	var names []string
	for _, m := range j.Moves {
		names = append(names, m.From, m.To)
	}
	for _, name := range append(names, j.Remove...) {
		if isState(name) {
			continue
		}
		link := d.join(oldDir + "/" + name)
		err := os.MkdirAll(filepath.Dir(link), 0o755)
		if err == nil {
			err = os.Link(d.join(name), link)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			os.RemoveAll(d.join(oldDir)) // best effort: without a manifest nobody reads from there
			return
		}
	}
}

// complete does what is left of a change. Each part of it may have been done before.
func (d *Dir) complete(j *journal) error {
	for i, m := range j.Moves {
		if i == len(j.Moves)-1 {
			// The manifest names files, which must be durable before it.
			if err := d.syncMoves(j.Moves); err != nil {
				return err
			}
		}
		if err := d.move(m); err != nil {
			return err
		}
	}
	if err := d.syncMoves(j.Moves); err != nil {
		return err
	}
	if err := d.Remove(j.Remove...); err != nil {
		return err
	}
	d.prune(IndexDir) // which a process that was killed here may have emptied
	if !j.KeepState {
		if err := forget(d); err != nil {
			return err
		}
	}
	if err := atomicfile.Remove(d.join(journalFile)); err != nil {
		return err
	}
	return d.clearStage()
}

// move renames a file, unless that was done before.
func (d *Dir) move(m move) error {
	if err := attempted("rename", d.join(m.To)); err != nil {
		return err
	}
	if dir := path.Dir(m.To); dir != "." {
		if err := d.at.mkdir(dir); err != nil {
			return err
		}
	}
	err := os.Rename(d.join(m.From), d.join(m.To))
	if errors.Is(err, fs.ErrNotExist) {
		done, failed := d.Exists(m.To)
		if failed != nil {
			return failed
		}
		if done {
			return nil
		}
	}
	return err
}

// syncMoves makes the renames in all directories durable.
func (d *Dir) syncMoves(moves []move) error {
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

// abandon takes back a change that was not decided on. A journal may be there
// although writing it failed at the very end: it goes before what it names.
func (d *Dir) abandon() error {
	if err := atomicfile.Remove(d.join(journalFile)); err != nil {
		return err
	}
	return d.clearStage()
}

// clearStage removes what was staged and not decided on, and links to old files.
func (d *Dir) clearStage() error {
	if err := os.RemoveAll(d.join(stageDir)); err != nil {
		return err
	}
	if err := os.RemoveAll(d.join(oldDir)); err != nil {
		return err
	}
	os.Remove(d.join(shardsDir)) // fails, as it should, when something is recorded of shards
	return d.Sweep()
}

// settle completes the change of a set in a local directory that a process began and
// did not complete, and reports whether a living process is at it. It needs no lock
// and writes nothing where there is no journal.
func settle(ctx context.Context, dir string) (alive bool, err error) {
	if storage.Remote(dir) {
		return false, nil // a change in a store has a marker, which Expand refuses
	}
	if begun, err := ViewDir(dir).Exists(journalFile); !begun || err != nil {
		return false, err
	}
	d, err := OpenDir(ctx, dir, DirOptions{})
	switch {
	case err == nil:
		return false, d.Close() // OpenDir has completed it
	case errors.Is(err, ErrBusy):
		return true, nil
	}
	return false, fmt.Errorf("%s is half replaced, since the process that did it was stopped, and completing it fails: %w; run any tfrec command on it as a user who may write there", dir, err)
}

// isState reports whether a name in the directory of a set is of its state.
func isState(name string) bool {
	return name == StateDir || strings.HasPrefix(name, StateDir+"/")
}
