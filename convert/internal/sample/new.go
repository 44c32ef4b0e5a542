package sample

import (
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/set/shares"
)

// NewSet returns the set of listed images, at most Options.Limit of them.
func NewSet(o *options.ImageOptions, l *listing.Listing) *Set {
	s := &Set{
		Options: o, Origin: l.Origin, WebDataset: l.WebDataset, Images: l.Images, Loose: len(l.Loose),
		Labels: plan.WithBackground(l.Labels, o.Labels.Offset), Values: l.Values, Texts: l.Texts, LabelMap: l.LabelMap || l.Annotations != nil,
		Features: l.Features, Carried: l.Carried, Columns: l.Columns, Annotations: l.Annotations, Masks: l.Masks, Colors: l.Colors,
	}
	if l.Annotations != nil {
		s.Labels, s.ObjectKeys = l.Annotations.Labels(), placed.KeysOf(o, l.Annotations)
	}
	s.allIdentity = s.identifyAll()
	if l.Synsets != nil {
		s.Synsets = append(make([]string, o.Labels.Offset), l.Synsets...)
	}
	if o.Limit > 0 {
		s.Images = limit(s.Images, o.Limit, shares.NewHasher(o.Seed, shares.ForLimit))
	}
	s.Images = append(s.Images, l.Loose...)
	return s
}

// limit returns the n images with the smallest hashes, sorted by path.
func limit(images []origin.Image, n int64, h shares.Hasher) []origin.Image {
	if n >= int64(len(images)) {
		return images
	}
	hashes := make([]uint64, len(images))
	for i := range images {
		hashes[i] = h.Key(images[i].Path)
	}
	kept := make([]origin.Image, n)
	for i, p := range plan.Smallest(hashes, int(n)) {
		kept[i] = images[p]
	}
	return kept
}
