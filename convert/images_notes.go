package convert

import "github.com/tfrec/tfrec/internal/annotation"

// imageNotes are the annotations of an image.
type imageNotes struct {
	annotated *annotation.Image // what is drawn on it; nil if no file lists it
	mask      *imageFile        // in AnnotationSpec.Masks; nil without
}

// annotated returns what is drawn on an image; nil if no file of annotations lists it.
func (p *imageFile) annotated() *annotation.Image {
	if p.notes == nil {
		return nil
	}
	return p.notes.annotated
}

// mask returns the mask of classes of an image; nil without.
func (p *imageFile) mask() *imageFile {
	if p.notes == nil {
		return nil
	}
	return p.notes.mask
}
