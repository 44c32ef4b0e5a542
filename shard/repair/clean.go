package repair

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
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
	Dir  string            `json:"dir"`
	Left []setdir.Leftover `json:"left"`
	// Removed says that nothing of it is there any more.
	Removed bool `json:"removed"`
}

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
	dir, err := setdir.Open(ctx, path, setdir.Options{Note: o.Note, Names: shard.ManifestFiles})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	left, err := dir.Leftovers()
	if err != nil {
		return nil, err
	}
	report := &CleanReport{Dir: path, Left: left}
	if report.Left == nil {
		report.Left = []setdir.Leftover{}
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
