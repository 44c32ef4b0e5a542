package repair

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// CleanOptions configures Clean. The zero value only reports.
type CleanOptions struct {
	// Remove removes the leftovers.
	Remove bool
	// Note, if not nil, is called with a human-readable message.
	Note func(sentence string)
}

// CleanReport is the result of Clean.
type CleanReport struct {
	Dir  string           `json:"dir"`
	Left []place.Leftover `json:"left"`
	// Removed is true if all leftovers were removed.
	Removed bool `json:"removed"`
}

// Clean finds what killed runs left in an output directory, and nothing else. On a local disk these
// are temporary files below .tfrec and staged files of incomplete updates, which running the update
// again would use. An update whose journal was written is completed first and leaves nothing. In an
// object store these are claims, and uploads of files that the state or the manifest lists. The
// next run into the directory removes them too; Clean is for directories without further runs. If a
// running process holds the directory, the error unwraps to ErrBusy.
func Clean(ctx context.Context, path string, o CleanOptions) (*CleanReport, error) {
	st, err := storage.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a directory: want the OUT of a run", path)
	}
	dir, err := setdir.Open(ctx, path, setdir.Options{Note: o.Note})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	left, err := setdir.Leftovers(dir)
	if err != nil {
		return nil, err
	}
	report := &CleanReport{Dir: path, Left: left}
	if report.Left == nil {
		report.Left = []place.Leftover{}
	}
	if o.Remove && len(left) > 0 {
		if err := dir.Staged().Clear(); err != nil {
			return nil, err
		}
		if err := dir.Sweep(); err != nil {
			return nil, err
		}
		report.Removed = true
	}
	return report, nil
}
