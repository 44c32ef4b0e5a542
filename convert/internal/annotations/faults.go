package annotations

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Attach adds the annotations in a file to an image, and the split of that file unless it is nil.
func Attach(p *origin.Image, image *annotation.Image, split *string) {
	extra := p.AddExtra()
	extra.Annotated = image
	if split != nil {
		p.Split = split
	}
	if image.Unreadable != "" && extra.Bad == nil {
		extra.Bad = BadSample(p.Path, annotation.Fault{Source: image.Source, Reason: image.Unreadable})
	}
}

// Missing returns the sample for an annotated image that the source does not have, or for an
// unreadable file of annotations that matches no image. It is a bad one.
func Missing(image *annotation.Image, split *string) origin.Image {
	return origin.Image{Path: image.Name, Split: split, Extra: &origin.Extra{Bad: missing(image)}}
}

func missing(image *annotation.Image) *setdir.BadSample {
	if image.Unreadable != "" {
		return BadSample(image.Name, annotation.Fault{Source: image.Source, Reason: image.Unreadable})
	}
	return &setdir.BadSample{
		Key: jsontext.Readable(image.Name), Source: jsontext.Readable(image.Source), Line: image.Line, Stage: "read",
		Reason: "annotated, and no image of this name is in the source",
	}
}

// BadSample returns the ledger entry for an annotation of the image, or other sample, of a key.
func BadSample(key string, f annotation.Fault) *setdir.BadSample {
	reason := f.Reason
	if f.Part != "" {
		reason = string(f.Part) + ": " + reason + "; boxes stay"
	}
	if f.Name != "" {
		reason = faultName(f) + ": " + reason
	}
	return &setdir.BadSample{
		Key: jsontext.Readable(key), Source: jsontext.Readable(f.Source), Line: f.Line,
		Stage: plan.StageAnnotation, Reason: jsontext.Readable(reason),
	}
}

// faultName returns the name of an annotation in the ledger: its id in the file, or "object 3".
func faultName(f annotation.Fault) string {
	if strings.Contains(f.Name, " ") {
		return f.Name
	}
	return "annotation " + f.Name
}

// Loose returns the ledger line for an annotation that belongs to no image.
func Loose(f annotation.Fault) origin.Image {
	return origin.Image{Path: faultKey(f), Extra: &origin.Extra{Bad: BadSample(faultKey(f), f)}}
}

func faultKey(f annotation.Fault) string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d", f.Source, f.Line)
	case f.Name != "":
		return f.Source + ":" + f.Name
	}
	return cmp.Or(f.Source, f.Image)
}
