package setdir

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
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

// Sweep removes the partial files of killed runs, and locks that only joined processes use.
func (d *Dir) Sweep() error {
	if err := d.at.Sweep(ours(d)); err != nil {
		return fmt.Errorf("sweep temporary files: %w", err)
	}
	return nil
}

// ours returns a function that reports whether a name in this directory is tfrec's: listed in the
// manifest or in the state of a run, part of the state itself, or any name if an export is writing
// the directory.
func ours(d *Dir) func(name string) (bool, error) {
	var named map[string]bool
	var exporting bool
	return func(name string) (bool, error) {
		if exporting || strings.HasPrefix(name, place.StateDir+"/") {
			return true, nil
		}
		if named == nil { // computed lazily: few calls need it
			var err error
			if exporting, err = d.Exists(ExportFile); exporting || err != nil {
				return exporting, err
			}
			files := []string{manifest.File}
			r, err := d.State().Run()
			if err != nil {
				return false, err
			}
			if r != nil {
				files = slices.Concat(files, r.Files, r.Stale)
			}
			if m, err := d.Manifest(); err == nil && m != nil {
				files = append(files, m.Files()...)
			}
			named = make(map[string]bool, len(files))
			for _, file := range files {
				named[path.Clean(file)] = true
			}
		}
		return named[name], nil
	}
}
