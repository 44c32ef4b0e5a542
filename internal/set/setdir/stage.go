package setdir

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Stage returns the directory below d for the files of a new version of the set, until Publish
// puts them in place. It needs no Close, and its files persist between runs. A store has none.
func (d *Dir) Stage() *Dir { return d.Sub(StageDir) }

// Staged is a new version of the set in dir, complete or not, which waits in the stage.
type Staged struct{ dir *Dir }

// Staged returns the new version of the set.
func (d *Dir) Staged() Staged { return Staged{d} }

// Clear removes all staged files.
func (s Staged) Clear() error {
	if s.dir.Remote() {
		return nil
	}
	return s.Discard()
}

// Abandon discards a change that was not committed. The journal may exist even though writing it
// failed, so it is removed before the files that it names.
func (s Staged) Abandon() error {
	if err := s.dir.Remove(JournalFile); err != nil {
		return err
	}
	return s.Discard()
}

// Discard removes staged files and links to old files.
func (s Staged) Discard() error {
	if s.dir.Remote() {
		return s.discardInStore()
	}
	if err := os.RemoveAll(s.dir.Join(StageDir)); err != nil {
		return err
	}
	if err := os.RemoveAll(s.dir.Join(OldDir)); err != nil {
		return err
	}
	os.Remove(s.dir.Join(ShardsDir)) // fails, as intended, if it has state of shards
	return s.dir.Sweep()
}

func (s Staged) discardInStore() error {
	var staged []string
	for is, err := range s.dir.loc.Join(StageDir).Walk(s.dir.ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		if !strings.HasSuffix(is.Name, "/") {
			staged = append(staged, StageDir+"/"+is.Name)
		}
	}
	if err := s.dir.Remove(staged...); err != nil {
		return err
	}
	return s.dir.Sweep()
}
