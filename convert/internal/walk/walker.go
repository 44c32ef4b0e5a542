package walk

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/splitlists"
)

// Found is the result of a walk.
type Found struct {
	Origin      origin.Origin
	Images      []origin.Image // sorted by path
	Excluded    []string       // with annotations: paths of images that the globs leave out
	Directories []string       // relative to the source
	Stating     []StatingFile  // files that may state splits; not in the account
	Files       splitlists.Files
	Skipped     int64 // files that are not samples
	Account     account.Account
	Left        []LeftFile // with LabelSpec.File: skipped files, not in the account
}

// LeftFile is a file that is not a sample, unless a row of LabelSpec.File names it.
type LeftFile struct {
	Path   string
	Reason account.Reason
}

// StatingFile is a file that may state splits.
type StatingFile struct {
	Path string // relative to the source
	Read bool   // the run reads it for something else
}

// walker selects and counts what all walks find.
type walker struct {
	Found
	o   *options.ImageOptions
	ctx context.Context
}

// leaveHidden counts a hidden file.
func (w *walker) leaveHidden(rel string) {
	if imagetree.IsImage(rel) {
		w.leaveOut(account.Hidden, rel)
	} else {
		w.Skipped++
	}
}

// leaveOut counts a file that is not a sample.
func (w *walker) leaveOut(r account.Reason, rel string) {
	w.Skipped++
	w.explain(r, rel)
}

// explain adds a file that is counted to the account.
func (w *walker) explain(r account.Reason, rel string) {
	if w.o.Labels.File != "" {
		w.Left = append(w.Left, LeftFile{rel, r})
	} else {
		w.Account.Add(r, rel)
	}
}

// wanted reports whether the globs select a path. With annotations it notes an image that they do
// not.
func (w *walker) wanted(rel string) bool {
	if w.o.Select.Wants(rel) {
		return true
	}
	if w.o.Annotations.HasObjects() {
		w.Excluded = append(w.Excluded, rel)
	}
	return false
}

// mayState reports whether a file may state splits, and is not left out.
func (w *walker) mayState(rel string) bool {
	return splitlists.MayState(rel) && !options.AnyMatches(w.o.Select.Exclude, rel)
}
