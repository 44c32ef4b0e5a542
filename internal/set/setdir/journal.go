package setdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// A set on a local disk changes atomically. All new files are first written to the stage directory,
// complete and synced. Then a journal lists the files to rename and the files to remove. Writing
// the journal commits the change: until it is durable the set is the old one; after that, any
// process that opens the directory, for writing or as the same user for reading, completes the
// change, by renames and removals only, the manifest last. While a running process does that,
// others can read the old set through links to its files.

const (
	JournalFormat  = "tfrec.journal"
	JournalVersion = 1
)

// Journal is a change of a set.
type Journal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Request identifies an append, so that it is not repeated.
	Request string `json:"request,omitempty"`
	// Moves are done in order; the last one is the manifest.
	Moves []Move `json:"moves"`
	// Remove names the files that are not in the new set.
	Remove []string `json:"remove,omitempty"`
	// KeepState keeps the state of the shards under .tfrec, which Moves have updated.
	KeepState bool `json:"keep_state,omitempty"`
	// Report is the report of an append; null for other changes.
	Report json.RawMessage `json:"report"`
}

// Move is a rename of a file, both names relative to the directory of the set.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Bytes and ModTime, in nanoseconds since 1970, identify the file after the rename. They
	// are 0 in a store.
	Bytes   int64 `json:"bytes"`
	ModTime int64 `json:"mod_time"`
	// Replaces means that the file may replace one of the same name. In a store only metadata is
	// replaced.
	Replaces bool `json:"replaces,omitempty"`
}

// ReadJournal returns the journal of an incomplete change; nil if there is none. An unusable
// journal is an error, since the set may be partly changed.
func ReadJournal(d *Dir) (*Journal, error) {
	begun, err := d.Exists(JournalFile)
	if !begun || err != nil {
		return nil, err
	}
	j := new(Journal)
	usable, err := d.State().ReadFile(JournalFile, j)
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

// check returns an error if a name is outside the directory.
func (j *Journal) check() error {
	for name := range j.names() {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%q is outside the set's directory", name)
		}
	}
	return nil
}

// names yields the names of all files that the change affects.
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

// Begin commits to a change: it links the old files and writes the journal. If it fails, the change
// does not happen, unless the journal can be neither written nor removed.
func (j *Journal) Begin(d *Dir) error {
	j.Format, j.Version = JournalFormat, JournalVersion
	err := j.check()
	if err == nil && d.Remote() {
		return d.State().PutFile(JournalFile, j) // the files stay until it is completed
	}
	if err == nil {
		err = os.RemoveAll(d.Join(OldDir)) // from a change that was not committed
	}
	if err == nil {
		err = Inside(d, func(root *os.Root) error {
			for i := range j.Moves {
				st, err := root.Lstat(filepath.FromSlash(j.Moves[i].From))
				if err != nil {
					return err
				}
				j.Moves[i].Bytes, j.Moves[i].ModTime = st.Size(), st.ModTime().UnixNano()
			}
			for _, name := range j.Remove {
				if _, err := root.Lstat(filepath.FromSlash(name)); err != nil && !storage.Missing(err) {
					return fmt.Errorf("%w; if %s names it by mistake, remove that directory", err, d.Join(place.StateDir))
				}
			}
			if LinkOld(root, j) != nil {
				// Best effort: without a manifest in OldDir, readers wait instead of reading from
				// there.
				_ = root.RemoveAll(filepath.FromSlash(OldDir))
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	if err := d.State().PutFile(JournalFile, j); err != nil {
		return errors.Join(err, atomicfile.Remove(d.Join(JournalFile)), os.RemoveAll(d.Join(OldDir)))
	}
	return nil
}

// Inside calls f with the directory as an os.Root, so that no name leads out of it, whatever links
// it has.
func Inside(d *Dir, f func(*os.Root) error) error {
	root, err := os.OpenRoot(d.Path())
	if err != nil {
		return err
	}
	return errors.Join(f(root), root.Close())
}

// LinkOld links the files that a change replaces or removes, including the manifest, into OldDir.
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
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // a name may occur twice
			return err
		}
	}
	return nil
}

// Complete does the rest of a change. Any step of it may already have been done.
func (j *Journal) Complete(d *Dir) error {
	if d.Remote() {
		return j.completeInStore(d)
	}
	for i, m := range j.Moves {
		if i == len(j.Moves)-1 {
			// The files that the manifest lists must be durable before it.
			if err := syncMoves(d, j.Moves); err != nil {
				return err
			}
		}
		if err := m.Apply(d); err != nil {
			return err
		}
	}
	if err := syncMoves(d, j.Moves); err != nil {
		return err
	}
	if err := d.Remove(j.Remove...); err != nil {
		return err
	}
	prune(d, manifest.IndexDir) // a process killed here may have emptied it
	if !j.KeepState {
		if err := Forget(d); err != nil {
			return err
		}
	}
	if err := atomicfile.Remove(d.Join(JournalFile)); err != nil {
		return err
	}
	return d.Staged().Discard()
}

// Move renames a file, unless that was already done.
func (m Move) Apply(d *Dir) error {
	if err := inject.Fault(d.ctx, "rename", d.Join(m.To)); err != nil {
		return err
	}
	if dir := path.Dir(m.To); dir != "." {
		if err := d.at.Mkdir(dir); err != nil {
			return err
		}
	}
	return Inside(d, func(root *os.Root) error {
		from, to := filepath.FromSlash(m.From), filepath.FromSlash(m.To)
		is, err := m.is(root, from)
		if err == nil && is {
			return root.Rename(from, to)
		}
		if err == nil {
			is, err = m.is(root, to)
		}
		if err != nil || is {
			return err // already renamed
		}
		return fmt.Errorf("%s, which was to become %s, is missing: the set is a mixture of two versions; remove %s and make the set again, or restore both from a copy", d.Join(m.From), d.Join(m.To), d.Join(place.StateDir))
	})
}

// is reports whether the named file is the one that m moves. Some file systems round times to two
// seconds when they are remounted.
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
func syncMoves(d *Dir, moves []Move) error {
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
