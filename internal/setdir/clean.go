package setdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
)

// Leftover is something that a killed run left, and that no other run uses.
type Leftover struct {
	// Kind is LeftTemporary, LeftStaged, LeftReplaced, LeftUpload or LeftClaim.
	Kind string `json:"kind"`
	// Name in the directory; of an upload, the one that it was to have.
	Name string `json:"name"`
	// Bytes that it takes; 0 for uploads, of which stores do not tell, and for links to
	// files that the set still has.
	Bytes int64 `json:"bytes,omitempty"`
	// Begun is when it was written last; of an upload when it was begun.
	Begun time.Time `json:"begun"`
}

// The kinds of what killed runs leave.
const (
	LeftTemporary = "temporary" // a file that has not got its name yet
	LeftStaged    = "staged"    // a file of an update that did not complete
	LeftReplaced  = "replaced"  // a link to a file that an update replaced, or was to replace
	LeftUpload    = "upload"    // parts of an object that is not there
	LeftClaim     = "claim"     // of a dead process on a directory in a store; the directory's own goes when it is looked into
)

// Leftovers returns what Sweep and ClearStage would remove that is worth telling.
func (d *Dir) Leftovers() ([]Leftover, error) {
	left, err := d.at.leftovers(d.ours())
	if err != nil {
		return nil, err
	}
	staged, err := d.stagedLeft()
	return append(left, staged...), err
}

// stagedLeft returns what updates staged that did not complete, and links to the files
// that they were to replace. There is no journal that needs any of it: opening the
// directory has completed what one says, or failed.
func (d *Dir) stagedLeft() ([]Leftover, error) {
	if d.Remote() {
		return nil, nil // nothing is staged there
	}
	var left []Leftover
	for _, from := range []struct{ dir, kind string }{{StageDir, LeftStaged}, {OldDir, LeftReplaced}} {
		root := d.Join(from.dir)
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
			l := Leftover{Kind: from.kind, Name: from.dir + "/" + filepath.ToSlash(name), Bytes: st.Size(), Begun: st.ModTime()}
			if from.kind == LeftReplaced {
				if of, err := os.Lstat(filepath.Join(d.path, name)); err == nil && os.SameFile(of, st) {
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
