package shard

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
)

// CleanOptions say what Clean does. With the zero value it looks.
type CleanOptions struct {
	// Remove has what is found removed.
	Remove bool
	// Note is called with a sentence for people, if it is not nil.
	Note func(sentence string)
}

// CleanReport is what Clean found in a directory.
type CleanReport struct {
	Dir  string     `json:"dir"`
	Left []Leftover `json:"left"`
	// Removed says that nothing of it is there any more.
	Removed bool `json:"removed"`
}

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

// Clean looks for what killed runs left in an output directory, and nothing else. On a
// local disk that is files below .tfrec without a name, and what updates staged that did
// not complete: running those again would use it. An update that was decided on is
// completed first, and nothing of it is left. In an object store it is uploads of files
// that the state or the manifest names, and claims. The next run into the directory does
// the same; Clean is for directories that get none. It returns an error that unwraps to
// ErrBusy when a living run has the directory.
func Clean(ctx context.Context, path string, o CleanOptions) (*CleanReport, error) {
	st, err := storage.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a directory: want the OUT of a run", path)
	}
	dir, err := OpenDir(ctx, path, DirOptions{Note: o.Note})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	left, err := dir.at.leftovers(dir.ours())
	if err != nil {
		return nil, err
	}
	staged, err := dir.stagedLeft()
	if err != nil {
		return nil, err
	}
	left = append(left, staged...)
	report := &CleanReport{Dir: path, Left: left}
	if report.Left == nil {
		report.Left = []Leftover{}
	}
	if o.Remove && len(left) > 0 {
		if err := dir.ClearStage(); err != nil {
			return nil, err
		}
		if err := dir.Sweep(); err != nil {
			return nil, err
		}
		report.Removed = true
	}
	return report, nil
}

// stagedLeft returns what updates staged that did not complete, and links to the files
// that they were to replace. There is no journal that needs any of it: opening the
// directory has completed what one says, or failed.
func (d *Dir) stagedLeft() ([]Leftover, error) {
	if storage.Remote(d.path) {
		return nil, nil // nothing is staged there
	}
	var left []Leftover
	for _, from := range []struct{ dir, kind string }{{StageDir, LeftStaged}, {oldDir, LeftReplaced}} {
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
