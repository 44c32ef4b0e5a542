package sample

import (
	"context"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/prefetch"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
)

// Set is the images of a conversion with their common properties. It defines the samples, and package
// imagerecord makes them.
type Set struct {
	Options     *options.ImageOptions
	Origin      origin.Origin
	WebDataset  bool
	Images      []origin.Image // the last are annotations without an image
	Loose       int            // the number of these
	Labels      []string       // names by id, background names included
	Synsets     []string       // labels in the source, by id as labels; nil if they are the names
	Values      []int64        // of labels without names: the integers that are stored; nil with names
	Texts       []string       // of values
	Features    []manifest.Feature
	Annotations *annotations.Union  // nil without AnnotationSpec.Files
	ObjectKeys  []string            // of the lists of objects: see placed.KeysOf
	allIdentity []byte              // see identifyAll
	Masks       *origin.Tree        // nil without AnnotationSpec.Masks
	Colors      *annotations.Colors // of RGB masks; nil without a list of them
	Carried     *carried.Features   // of TFRecords; nil for other sources
	LabelMap    bool                // labels belong to objects
	Columns     walk.Columns        // of Parquet and Arrow files
	rings       []ring              // of the splits, if variants are mixed
	SplitOf     func(p int) int     // the index of an image's split
}

// WritesLabels reports whether records have labels other than those carried over.
func (s *Set) WritesLabels() bool {
	return !s.Options.Labels.None && (s.Carried == nil || !s.Carried.Labels)
}

// CountsLabels reports whether each record has one label, which the summary counts.
func (s *Set) CountsLabels() bool {
	return len(s.Labels) > 0 && s.Annotations == nil && !s.Options.Labels.Several() && (s.Carried == nil || !s.Carried.Labels || s.Carried.Counted)
}

// Sample is a planned record: an original image or, in an augmented set, one of its variants.
type Sample struct {
	Image int32
	Copy  int32 // 0 is the original
}

// IsLoose reports whether a sample is an annotation without an image, which is not counted.
func (s *Set) IsLoose(sample Sample) bool { return int(sample.Image) >= len(s.Images)-s.Loose }

// Unread replaces the content hash of an image that cannot be read. It is never saved, so the next
// run tries again.
const Unread = "unread"

// UnusedHash replaces the content hash of an image that the listing rejected. Why is not part of it:
// each run writes the ledger entry again.
func UnusedHash(b *setdir.BadSample) string { return "unused: " + b.Stage }

// Listed returns a ledger entry that relist renews.
func Listed(b *setdir.BadSample) *setdir.BadSample {
	renewed := *b
	renewed.Listed = true
	return &renewed
}

// LabelID returns the id that is stored of a label, by the id that an origin.Image has.
func (s *Set) LabelID(id int32) int64 {
	if s.Values != nil && id >= 0 {
		return s.Values[id]
	}
	return int64(id)
}

// LabelText returns the name of a label, by the id that an origin.Image has: its digits without a
// vocabulary, and no text for labels.Unlabelled.
func (s *Set) LabelText(id int32) string {
	switch {
	case id < 0:
		return ""
	case s.Values != nil:
		return s.Texts[id]
	}
	return s.Labels[id]
}

// Of is the sample of an original.
func Of(image int32) Sample { return Sample{Image: image} }

// Unusable returns a ledger entry.
func (s *Set) Unusable(sample Sample, stage string, err error) *setdir.BadSample {
	return &setdir.BadSample{
		Key: jsontext.Readable(s.Key(sample)), Source: jsontext.Readable(s.Origin.Source(&s.Images[sample.Image])),
		Stage: stage, Reason: err.Error(),
	}
}

// MaskKey identifies a mask among the inputs: keys of images are relative paths.
func (s *Set) MaskKey(path string) string { return s.Masks.Place() + "/" + path }

// Fetches reports whether images or their masks are in a store.
func (s *Set) Fetches() bool {
	return s.Origin.Remote() || s.Masks != nil && s.Masks.Remote()
}

// Fetch begins to read images ahead: see prefetch.New.
func (s *Set) Fetch(ctx context.Context, memory int64, next func() *origin.Image) *prefetch.Fetcher {
	return prefetch.New(ctx, s.Origin, s.Masks, memory, next)
}

// ReportsFaults reports whether a sample is the one, of those made from its image, whose shard has
// the ledger entries of the image's annotations.
func (s *Set) ReportsFaults(sample Sample) bool {
	return sample.Copy == 0 || sample.Copy == 1 && !s.Options.Augment.KeepOriginal
}

// MisplacedAnnotations returns the keys of ledger entries about annotations that decoding an image has
// shown to be unusable.
func MisplacedAnnotations(bad []setdir.BadSample) map[string]bool {
	keys := map[string]bool{}
	for i := range bad {
		if bad[i].Stage == plan.StageAnnotation && !bad[i].Listed {
			keys[bad[i].Key] = true
		}
	}
	return keys
}
