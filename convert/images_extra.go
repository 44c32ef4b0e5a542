package convert

import (
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/setdir"
)

// imageExtra is what most sets have of no image, in one place, so that an image without takes little
// memory. Copies of an image share it: addExtra changes it.
type imageExtra struct {
	row       *imageRow         // of a table with features, or with lists of labels; else nil
	annotated *annotation.Image // what is drawn on it; nil if no file lists it
	mask      *imageFile        // in AnnotationSpec.Masks; nil without
	bad       *setdir.BadSample // why it is unusable, if the listing knows
}

// row returns the image's row of a table with features, or with lists of labels; nil without.
func (p *imageFile) row() *imageRow {
	if p.extra == nil {
		return nil
	}
	return p.extra.row
}

// annotated returns what is drawn on an image; nil if no file of annotations lists it.
func (p *imageFile) annotated() *annotation.Image {
	if p.extra == nil {
		return nil
	}
	return p.extra.annotated
}

// mask returns the mask of classes of an image; nil without.
func (p *imageFile) mask() *imageFile {
	if p.extra == nil {
		return nil
	}
	return p.extra.mask
}

// bad returns why an image is unusable, if the listing knows; nil otherwise.
func (p *imageFile) bad() *setdir.BadSample {
	if p.extra == nil {
		return nil
	}
	return p.extra.bad
}

// addExtra returns what the image has from now on, to be added to, apart from copies of the image.
func (p *imageFile) addExtra() *imageExtra {
	extra := new(imageExtra)
	if p.extra != nil {
		*extra = *p.extra
	}
	p.extra = extra
	return extra
}
