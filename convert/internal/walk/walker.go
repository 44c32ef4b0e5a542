package walk

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation/splitlists"
	"github.com/tfrec/tfrec/internal/imagetree"
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
	Left        []LeftFile // skipped files, not in the account until it is known whether they are read
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

// MayBeRead reports whether lists of splits or annotations may name a file, or have it next to them.
func (f *LeftFile) MayBeRead() bool {
	switch f.Reason {
	case account.Splits, account.Labels, account.Metadata, account.Other:
		return slices.Contains(readable, strings.ToLower(path.Ext(f.Path)))
	}
	return false
}

// readable are extensions of files that list images, splits or classes, in lower case.
var readable = []string{".data", ".labels", ".names", ".txt", ".yaml", ".yml"}

// walker selects and counts what all walks find.
type walker struct {
	Found
	o      *options.ImageOptions
	ctx    context.Context
	beside []string // files that may have the labels of an image, until the images are known
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
	if f := (LeftFile{rel, r}); w.o.Labels.File != "" || f.MayBeRead() {
		w.Left = append(w.Left, f)
	} else {
		w.Account.Add(r, rel)
	}
}

// explainByName adds a file that is counted to the account, with the reason that follows from its
// name. Files that the globs leave out are not added; a file that may state splits or labels only
// if the globs exclude it.
func (w *walker) explainByName(rel string) {
	if r := account.OfFile(rel); account.MayAnnotate(rel) && r != account.Metadata {
		w.beside = append(w.beside, rel)
	} else {
		w.explainAs(r, rel)
	}
}

// explainAs is explainByName for a known reason.
func (w *walker) explainAs(r account.Reason, rel string) {
	states := r == account.Splits || r == account.Labels
	if w.o.Select.Wants(rel) || states && !options.AnyMatches(w.o.Select.Exclude, rel) {
		w.explain(r, rel)
	}
}

// explainBeside adds the files that may have the labels of an image. A file named like an image
// that was found counts as labels. The images are sorted.
func (w *walker) explainBeside() {
	for _, rel := range w.beside {
		r := account.OfFile(rel)
		if w.isBeside(rel) {
			r = account.Labels
		}
		w.explainAs(r, rel)
	}
	w.beside = nil
}

// isBeside reports whether an image is named like a file, but for the extension.
func (w *walker) isBeside(rel string) bool {
	const most = 8 // of names that begin like it
	stem := strings.TrimSuffix(rel, path.Ext(rel))
	i, _ := slices.BinarySearchFunc(w.Images, stem+".", func(p origin.Image, name string) int { return strings.Compare(p.Path, name) })
	return slices.ContainsFunc(w.Images[i:min(i+most, len(w.Images))], func(p origin.Image) bool {
		return strings.TrimSuffix(p.Path, path.Ext(p.Path)) == stem
	})
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
