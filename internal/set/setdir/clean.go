package setdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Leftover is a file or upload of a killed run that no other run uses.
type Leftover struct {
	// Kind is LeftTemporary, LeftStaged, LeftReplaced, LeftUpload or LeftClaim.
	Kind string `json:"kind"`
	// Name relative to the directory; for an upload, the name of the object it was for.
	Name string `json:"name"`
	// Bytes is the space it takes; 0 for uploads, whose size stores do not report, and for links to
	// files that are still in the set.
	Bytes int64 `json:"bytes,omitempty"`
	// Begun is the modification time; for an upload, when it was started.
	Begun time.Time `json:"begun"`
}

// The kinds of leftovers.
const (
	LeftTemporary = "temporary" // a file that was not renamed to its final name
	LeftStaged    = "staged"    // a file of an incomplete update
	LeftReplaced  = "replaced"  // a link to a file that an update replaced, or was going to replace
	LeftUpload    = "upload"    // parts of an object that was not completed
	LeftClaim     = "claim"     // of a dead process in a store; claims on the directory itself are removed when it is opened
)

// Leftovers returns the files that Sweep and ClearStage would remove, except unimportant ones.
func (d *Dir) Leftovers() ([]Leftover, error) {
	left, err := d.at.leftovers(d.ours())
	if err != nil {
		return nil, err
	}
	staged, err := d.stagedLeft()
	return append(left, staged...), err
}

// stagedLeft returns the staged files of incomplete updates, and links to the files that they were
// going to replace. No journal refers to them any more: opening the directory has completed any
// journal, or failed.
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
				if of, err := os.Lstat(filepath.Join(d.Path(), name)); err == nil && os.SameFile(of, st) {
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
