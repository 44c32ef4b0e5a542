package shard

import (
	"context"
	"fmt"
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

// CleanReport is what Clean found in a folder.
type CleanReport struct {
	Dir  string     `json:"dir"`
	Left []Leftover `json:"left"`
	// Removed says that nothing of it is there any more.
	Removed bool `json:"removed"`
}

// Leftover is something that a killed run left, and that no other run uses.
type Leftover struct {
	// Kind is LeftTemporary, LeftUpload or LeftClaim.
	Kind string `json:"kind"`
	// Name in the folder; of an upload, the one that it was to have.
	Name string `json:"name"`
	// Bytes that it takes; 0 for uploads, of which stores do not tell.
	Bytes int64 `json:"bytes,omitempty"`
	// Begun is when it was written last; of an upload when it was begun.
	Begun time.Time `json:"begun"`
}

// The kinds of what killed runs leave.
const (
	LeftTemporary = "temporary" // a file that has not got its name yet
	LeftUpload    = "upload"    // parts of an object that is not there
	LeftClaim     = "claim"     // of a dead process on a folder in a store; the folder's own goes when it is looked into
)

// Clean looks for what killed runs left in an output folder, and nothing else: files
// without a name below .tfrec here, and in an object store uploads of files that the
// state or the manifest names, and claims. The next run into the folder does the
// same; Clean is for folders that get none. It returns an error that unwraps to ErrBusy
// when a living run has the folder.
func Clean(ctx context.Context, path string, o CleanOptions) (*CleanReport, error) {
	st, err := storage.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a folder: want the OUT of a run", path)
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
	report := &CleanReport{Dir: path, Left: left}
	if report.Left == nil {
		report.Left = []Leftover{}
	}
	if o.Remove && len(left) > 0 {
		if err := dir.Sweep(); err != nil {
			return nil, err
		}
		report.Removed = true
	}
	return report, nil
}
