package setdir

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Leftovers returns the files that Dir.Sweep and Staged.Clear would remove, except unimportant ones.
func Leftovers(d *Dir) ([]place.Leftover, error) {
	left, err := d.at.Leftovers(ours(d))
	if err != nil {
		return nil, err
	}
	staged, err := d.Staged().leftovers()
	return append(left, staged...), err
}

// leftovers returns the staged files of incomplete updates, and links to the files that they were
// going to replace. No journal refers to them any more: opening the directory has completed any
// journal, or failed.
func (s Staged) leftovers() ([]place.Leftover, error) {
	if s.dir.Remote() {
		return nil, nil // nothing is staged there
	}
	var left []place.Leftover
	for _, from := range []struct{ dir, kind string }{{StageDir, place.LeftStaged}, {OldDir, place.LeftReplaced}} {
		root := s.dir.Join(from.dir)
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if storage.Missing(err) || err == nil && e.IsDir() {
				return nil
			}
			if err != nil {
				return err
			}
			st, err := e.Info()
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			l := place.Leftover{Kind: from.kind, Name: from.dir + "/" + filepath.ToSlash(name), Bytes: st.Size(), Begun: st.ModTime()}
			if from.kind == place.LeftReplaced {
				if of, err := os.Lstat(filepath.Join(s.dir.Path(), name)); err == nil && os.SameFile(of, st) {
					l.Bytes = 0
				}
			}
			left = append(left, l)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}
