package origin

import (
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Extra holds the data that few images have, in one place, so that an image without them takes little
// memory. Copies of an image share it: AddExtra changes it for one.
type Extra struct {
	Row       *Row              // of a table with features, or with lists of labels; else nil
	Annotated *annotation.Image // its annotations; nil if no file lists it
	Mask      *Image            // in AnnotationSpec.Masks; nil without
	Bad       *setdir.BadSample // why it is unusable, if the listing knows
}

// Row returns the image's row of a table with features, or with lists of labels; nil without.
func (p *Image) Row() *Row {
	if p.Extra == nil {
		return nil
	}
	return p.Extra.Row
}

// Annotated returns the annotations of an image; nil if no file of annotations lists it.
func (p *Image) Annotated() *annotation.Image {
	if p.Extra == nil {
		return nil
	}
	return p.Extra.Annotated
}

// Mask returns the mask of classes of an image; nil without.
func (p *Image) Mask() *Image {
	if p.Extra == nil {
		return nil
	}
	return p.Extra.Mask
}

// Bad returns why an image is unusable, if the listing knows; nil otherwise.
func (p *Image) Bad() *setdir.BadSample {
	if p.Extra == nil {
		return nil
	}
	return p.Extra.Bad
}

// AddExtra gives the image its own copy of its extra data, and returns it for changes. Copies of
// the image keep the previous data.
func (p *Image) AddExtra() *Extra {
	extra := new(Extra)
	if p.Extra != nil {
		*extra = *p.Extra
	}
	p.Extra = extra
	return extra
}

// Row holds the columns of a table for an image, other than its path and its only label.
type Row struct {
	Labels   []int32 // ids of a list of labels; nil without LabelSpec.Separator
	Features []byte  // an encoded Example; nil without ImageOptions.Features
}

// SourceID is the id of an image in its annotations, or else its key.
func (p *Image) SourceID() string {
	if p.Annotated() != nil && p.Annotated().ID != "" {
		return p.Annotated().ID
	}
	return p.Path
}
