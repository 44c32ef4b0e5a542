package command

import (
	"fmt"
	"image/color"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/codec/thumbnail"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/view/preview"
	"github.com/tfrec/tfrec/tfrecord"
)

// previewLabel is an object of a variant.
type previewLabel struct {
	Label int64      `json:"label"`
	Text  string     `json:"text"`
	Box   [4]float32 `json:"box"` // xmin, ymin, xmax and ymax, in shares of the variant's size
}

// variantSheet makes the contact sheet of an image and its variants.
type variantSheet struct {
	source   *convert.ImageVariants
	image    augment.Image
	varied   augment.Image // a variant of image
	scratch  augment.Scratch
	marker   *preview.Marker
	sheet    *thumbnail.Sheet
	variants int // with the original
	cell     int
	objects  int // of the original
}

// begin makes the empty sheet.
func (p *variantSheet) begin() (err error) {
	original, err := p.source.Variant(0)
	if err != nil {
		return err
	}
	if p.marker, err = preview.NewMarker(p.scratch.Codec, original.Record); err != nil {
		return err
	}
	layout := thumbnail.Layout{Side: p.cell, Gap: sheetGap, Ground: color.White}
	if p.source.Annotations != "" {
		layout.Beneath = preview.CaptionHeight
	}
	p.sheet, err = thumbnail.NewSheet(p.variants, layout)
	return err
}

// add adds the variant of a number, or 0 for the original. problem is why some of it is not drawn.
func (p *variantSheet) add(number int) (v variant, problem string, err error) {
	drawn, err := p.source.Variant(number)
	if err != nil {
		return v, "", err
	}
	if err := drawn.Draw.Apply(&p.varied, &p.image, &p.scratch); err != nil {
		return v, "", err
	}
	v = variant{Copy: number, Width: p.varied.Width, Height: p.varied.Height, Ops: drawn.Draw, Dropped: drawn.Dropped}
	if p.source.Annotations != "" {
		if v.Objects, err = objectsOf(drawn.Record); err != nil {
			return v, "", err
		}
	}
	small, err := thumbnail.New(&p.varied, p.cell, true, &p.scratch)
	if err != nil {
		return v, "", fmt.Errorf("sheet: %w", err)
	}
	if small, problem, err = p.marker.Mark(small, v.Width, v.Height, drawn.Record); err != nil {
		return v, "", err
	}
	square, err := p.sheet.Add(small)
	if err != nil {
		return v, "", err
	}
	if number == 0 {
		p.objects = len(v.Objects)
	}
	if p.source.Annotations != "" {
		left := fmt.Sprintf("%d of %d", len(v.Objects), p.objects)
		preview.Caption(p.sheet.Image, square, fmt.Sprintf("%d of %s", len(v.Objects), plural.Of(p.objects, "object")), left)
	}
	return v, problem, nil
}

// objectsOf returns the objects of a record.
func objectsOf(record []byte) ([]previewLabel, error) {
	var e tfrecord.Example
	var o objects.Objects
	if err := e.Parse(record); err != nil {
		return nil, err
	}
	if err := o.Parse(&e.Features); err != nil {
		return nil, err
	}
	list := make([]previewLabel, o.Len())
	for i, box := range o.Boxes {
		list[i] = previewLabel{Label: o.Labels[i], Text: string(o.Texts[i]), Box: box}
	}
	return list, nil
}
