package convert

import "github.com/tfrec/tfrec/convert/internal/origin"

import (
	"github.com/tfrec/tfrec/manifest"
)

// imageSet is the images of a conversion and what is known of all of them: it says what a sample is,
// and not how it is made.
type imageSet struct {
	o           *ImageOptions
	origin      origin.Origin
	webdataset  bool
	images      []origin.Image // the last of them are annotations of no image
	loose       int            // how many these are
	labels      []string       // names by id, background names included
	synsets     []string       // labels in the source, by id as labels; nil if they are the names
	values      []int64        // of labels without names: what is stored; nil with names
	texts       []string       // of values
	features    []manifest.Feature
	annotations *origin.Annotations // nil without AnnotationSpec.Files
	objectKeys  []string            // of their lists, besides those of all
	allIdentity []byte              // of what annotations give all records: see identifyAll
	masks       *origin.Tree        // nil without AnnotationSpec.Masks
	colors      *origin.MaskColors  // of RGB masks; nil without a list of them
	carried     *origin.Carried     // of TFRecords; nil for other sources
	labelMap    bool                // labels are those of objects
	columns     origin.Columns      // of Parquet and Arrow files
	rings       []ring              // of the splits, if variants are mixed
	splitOf     func(p int) int     // the index of an image's split
}

// writesLabels reports whether records have labels other than those carried over.
func (s *imageSet) writesLabels() bool {
	return !s.o.Labels.None && (s.carried == nil || !s.carried.Labels)
}

// countsLabels reports whether each record has one label, which the summary counts.
func (s *imageSet) countsLabels() bool {
	return len(s.labels) > 0 && s.annotations == nil && !s.o.Labels.Several() && (s.carried == nil || !s.carried.Labels || s.carried.Counted)
}
