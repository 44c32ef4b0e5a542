package images

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/masks"
)

// submitMask decodes the mask of a record for a row of the batch. It moves as the image does, which
// was decoded last.
func (d *imageDecoder) submitMask(unit, row int, data []byte) error {
	src := &d.source
	t := d.task(unit, d.spec.MaskKey)
	n := d.width * d.height
	w, h := src.stored()
	return d.enqueue(t, d.mask(t, data, w, h, d.batch.Masks[row*n:(row+1)*n], func() error {
		_, err := d.spec.Codec.DecodeMask(&t.decoded, data)
		masks.NewWay(src.orientation, src.draw, &d.spec.Resize, d.spec.MaskFill).Begin(&t.Task, &t.decoded)
		return err
	}))
}

// mask checks a mask of w x h pixels and calls begin, which decodes it and sets up its steps, for a
// row of masks.
func (d *imageDecoder) mask(t *imageTask, data []byte, w, h int, row []uint8, begin func() error) error {
	info, err := masks.Check(d.spec.Codec, data, w, h)
	if err != nil {
		return err
	}
	if err := d.reserve(t, info.Memory()); err != nil {
		return err
	}
	t.mask, t.channels = row, 1
	t.Pixels = augment.Image{Pix: row[:len(row):len(row)]} // into the tensor
	return begin()
}
