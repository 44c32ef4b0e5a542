package setdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/storage"
)

// A set on a local disk changes in one step. Everything new is written below the stage first, whole
// and synced. Then a journal says which files get which names and which files go. The journal is
// the decision: before it is durable the set is the old one; after it, whoever opens the directory,
// for writing or as the same user for reading, carries out what is left of it, by renames alone,
// the manifest last. While a living process does that, links to the old files let others read the
// old set.

const (
	StageDir    = StateDir + "/stage"
	OldDir      = StateDir + "/old"
	JournalFile = StateDir + "/journal.json"

	JournalFormat  = "tfrec.journal"
	JournalVersion = 1
)

// Journal is a change of a set.
type Journal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Request identifies an append, so that the same one is not done twice.
	Request string `json:"request,omitempty"`
	// Moves are carried out in order; the last one is the manifest's.
	Moves []Move `json:"moves"`
	// Remove names files that the new set no longer has.
	Remove []string `json:"remove,omitempty"`
	// KeepState leaves what is recorded of the shards under .tfrec, which Moves
	// brought up to date.
	KeepState bool `json:"keep_state,omitempty"`
	// Report is what an append says when it is done; null of other changes.
	Report json.RawMessage `json:"report"`
}

// Move is a rename of a file, both names relative to the directory of the set.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Bytes and ModTime, in nanoseconds since 1970, are of the file, which is known by
	// them once it has its new name.
	Bytes   int64 `json:"bytes"`
	ModTime int64 `json:"mod_time"`
}

// ReadJournal returns the journal of a change that is not complete; nil when there is
// none. A journal that cannot be used is an error, since the set may be half changed.
func (d *Dir) ReadJournal() (*Journal, error) {
	begun, err := d.Exists(JournalFile)
	if !begun || err != nil {
		return nil, err
	}
	j := new(Journal)
	usable, err := d.ReadStateFile(JournalFile, j)
	if err != nil {
		return nil, err
	}
	if !usable || j.Format != JournalFormat || j.Version != JournalVersion || len(j.Moves) == 0 {
		return nil, fmt.Errorf("%s: not a journal that this version of tfrec can complete: use the version that wrote it", d.Join(JournalFile))
	}
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Join(JournalFile), err)
	}
	return j, nil
}

// check wants all names to be of files in the directory.
func (j *Journal) check() error {
	for name := range j.names() {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%q is outside the set's directory", name)
		}
	}
	return nil
}

// names yields the names of all files that a change touches.
func (j *Journal) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, m := range j.Moves {
			if !yield(m.From) || !yield(m.To) {
				return
			}
		}
		for _, name := range j.Remove {
			if !yield(name) {
				return
			}
		}
	}
}

// CheckVacant refuses to put a new file where the set has none and something else is.
func (d *Dir) CheckVacant(name string) error {
	taken, err := d.Exists(name)
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("%s is in the way, and the manifest does not name it: move it away", d.Join(name))
	}
	return nil
}

// Begin decides on a change: it links the old files, and writes the journal. After an
// error nothing is decided on, unless the journal can be neither written nor removed.
func (d *Dir) Begin(j *Journal) error {
	j.Format, j.Version = JournalFormat, JournalVersion
	err := j.check()
	if err == nil {
		err = os.RemoveAll(d.Join(OldDir)) // of a change that was not begun in the end
	}
	if err == nil {
		err = d.Inside(func(root *os.Root) error {
			for i := range j.Moves {
				st, err := root.Lstat(filepath.FromSlash(j.Moves[i].From))
				if err != nil {
					return err
				}
				j.Moves[i].Bytes, j.Moves[i].ModTime = st.Size(), st.ModTime().UnixNano()
			}
			for _, name := range j.Remove {
				if _, err := root.Lstat(filepath.FromSlash(name)); err != nil && !storage.Missing(err) {
					return fmt.Errorf("%w; if %s names it by mistake, remove that directory", err, d.Join(StateDir))
				}
			}
			if LinkOld(root, j) != nil {
				// Best effort: others wait, since without a manifest nobody reads from there.
				_ = root.RemoveAll(filepath.FromSlash(OldDir))
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	if err := d.PutStateFile(JournalFile, j); err != nil {
		return errors.Join(err, atomicfile.Remove(d.Join(JournalFile)), os.RemoveAll(d.Join(OldDir)))
	}
	return nil
}

// Inside calls f with the directory, out of which no name leads, whatever links there
// are in it.
func (d *Dir) Inside(f func(*os.Root) error) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	return errors.Join(f(root), root.Close())
}

// LinkOld links the files that a change takes away below OldDir, the manifest among
// them.
func LinkOld(root *os.Root, j *Journal) error {
	for name := range j.names() {
		if isState(name) {
			continue
		}
		link := filepath.FromSlash(OldDir + "/" + name)
		if err := root.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return err
		}
		err := root.Link(filepath.FromSlash(name), link)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // a name may come twice
			return err
		}
	}
	return nil
}

// Complete does what is left of a change. Each part of it may have been done before.
func (d *Dir) Complete(j *Journal) error {
	for i, m := range j.Moves {
		if i == len(j.Moves)-1 {
			// The manifest names files, which must be durable before it.
			if err := d.syncMoves(j.Moves); err != nil {
				return err
			}
		}
		if err := d.Move(m); err != nil {
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
		if err := Forget(d); err != nil {
			return err
		}
	}
	if err := atomicfile.Remove(d.Join(JournalFile)); err != nil {
		return err
	}
	return d.DiscardStage()
}

// Move renames a file, unless that was done before.
func (d *Dir) Move(m Move) error {
	if err := inject.Fault("rename", d.Join(m.To)); err != nil {
		return err
	}
	if dir := path.Dir(m.To); dir != "." {
		if err := d.at.mkdir(dir); err != nil {
			return err
		}
	}
	return d.Inside(func(root *os.Root) error {
		from, to := filepath.FromSlash(m.From), filepath.FromSlash(m.To)
		is, err := m.is(root, from)
		if err == nil && is {
			return root.Rename(from, to)
		}
		if err == nil {
			is, err = m.is(root, to)
		}
		if err != nil || is {
			return err // it has its name already
		}
		return fmt.Errorf("%s, which was to become %s, is missing: the set is a mixture of two versions; remove %s and make the set again, or restore both from a copy", d.Join(m.From), d.Join(m.To), d.Join(StateDir))
	})
}

// is reports whether the file that is moved is the one of a name. Some file systems
// round times to two seconds when they are mounted again.
func (m Move) is(root *os.Root, name string) (bool, error) {
	st, err := root.Lstat(name)
	if err != nil {
		if storage.Missing(err) {
			err = nil
		}
		return false, err
	}
	off := st.ModTime().Sub(time.Unix(0, m.ModTime)).Abs()
	return st.Size() == m.Bytes && off <= 2*time.Second, nil
}

// syncMoves makes the renames in all directories durable.
func (d *Dir) syncMoves(moves []Move) error {
	done := map[string]bool{}
	for _, m := range moves {
		dir := filepath.Dir(d.Join(m.To))
		if done[dir] {
			continue
		}
		done[dir] = true
		if err := atomicfile.SyncDir(dir); err != nil && !storage.Missing(err) {
			return err
		}
	}
	return nil
}

// Abandon takes back a change that was not decided on. A journal may be there
// although writing it failed at the very end: it goes before what it names.
func (d *Dir) Abandon() error {
	if err := atomicfile.Remove(d.Join(JournalFile)); err != nil {
		return err
	}
	return d.DiscardStage()
}

// DiscardStage removes what was staged and not decided on, and links to old files.
func (d *Dir) DiscardStage() error {
	if err := os.RemoveAll(d.Join(StageDir)); err != nil {
		return err
	}
	if err := os.RemoveAll(d.Join(OldDir)); err != nil {
		return err
	}
	os.Remove(d.Join(ShardsDir)) // fails, as it should, when something is recorded of shards
	return d.Sweep()
}

// Change is how far a change of a set is.
type Change int

const (
	NoChange Change = iota // none is under way
	Changing               // a living process is at it
	Stuck                  // a process was stopped that began it, and others are to complete it
)

// Settle completes the change of a set in a local directory that a process began and
// did not complete. It writes nothing where there is no journal, nor where the journal
// is another user's: reading a set must not carry out what somebody else has written
// there.
func Settle(ctx context.Context, dir string, o Options) (Change, error) {
	if storage.Remote(dir) {
		return NoChange, nil // a change in a store has a marker, which Expand refuses
	}
	view := View(ctx, dir)
	if begun, err := view.Exists(JournalFile); !begun || err != nil {
		return NoChange, err
	}
	own, err := ownFile(view.Join(JournalFile))
	switch {
	case storage.Missing(err):
		return NoChange, nil
	case err != nil:
		return NoChange, err
	case !own:
		return Stuck, nil // or under way, which only its owner can tell
	}
	d, err := Open(ctx, dir, o)
	switch {
	case err == nil:
		return NoChange, d.Close() // Open has completed it
	case errors.Is(err, ErrBusy):
		return Changing, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Stuck, nil
	}
	return NoChange, fmt.Errorf("%s is partly replaced, since the process replacing it was stopped, and completing it fails: %w", dir, err)
}

// isState reports whether a name in the directory of a set is of its state.
func isState(name string) bool {
	return name == StateDir || strings.HasPrefix(name, StateDir+"/")
}
