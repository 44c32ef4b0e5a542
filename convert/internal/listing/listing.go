package listing

import (
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/convert/internal/labeltable"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
)

// Listing is the content of a source: the images that were found, with their labels, splits and
// annotations.
type Listing struct {
	walk.Found
	WebDataset bool
	Loose      []origin.Image // annotations that belong to no image: not samples, but lines of the ledger

	Labels   []string // names in id order, without the offset
	Synsets  []string // labels in the source, by id, if their names are others
	Values   []int64  // of labels without names: the integers that are stored; else nil
	Texts    []string // of Values
	LabelMap bool     // labels belong to the objects of TFRecords

	Splits   []string // that the source states, sorted; empty without
	SplitsBy string   // how they are stated, as in plan.OptionSplits
	stated   string   // the same for people, if they are stated for each image by itself
	above    int      // how many names of a path are above its label: of directories of splits

	Features    []manifest.Feature
	Carried     *carried.Features   // of TFRecords; nil for other sources
	Columns     walk.Columns        // of Parquet and Arrow files
	table       *labeltable.Table   // LabelSpec.File, until labels have ids; nil without
	Causes      []string            // why rows of that table name no image
	Annotations *annotations.Union  // nil without AnnotationSpec.Files
	Masks       *origin.Tree        // nil without AnnotationSpec.Masks
	Colors      *annotations.Colors // of RGB masks; nil without a list of them
}

// RefuseLosses returns an error if something is left out that LabelSpec.Strict does not allow to be
// left out.
func (l *Listing) RefuseLosses(o *options.ImageOptions) error {
	if !o.Labels.Strict {
		return nil
	}
	var losses []string
	for _, e := range l.Account.Entries() {
		switch {
		case !e.Reason.Loses():
		case e.Reason == account.Splits && len(o.Splits) > 0, e.Reason == account.Labels && o.Labels.None:
			// left out on request
		default:
			losses = append(losses, e.String())
		}
	}
	if losses == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", optname.LabelSpecStrict, strings.Join(losses, "; "))
}

// otherContents describes the files of a source that are not samples.
func otherContents(found *walk.Found) string {
	entries := found.Account.Entries()
	if len(entries) == 0 {
		return plural.Of(found.Skipped, "other file")
	}
	var says []string
	for _, e := range entries {
		says = append(says, e.String())
	}
	return strings.Join(says, "; ")
}

// noteLeft notes which files the walk skipped, where a user may not expect it.
func (l *Listing) noteLeft(o *options.ImageOptions) {
	for _, e := range l.Account.Entries() {
		switch e.Reason {
		case account.Hidden, account.Link, account.Special:
			o.Notef("%v", e)
		}
	}
}
