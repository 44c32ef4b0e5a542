package images

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/annotation/masks"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// maxRaggedMasks bounds the masks of the objects of a batch, in bytes, if MaxBoxes does not: a
// single record must not decide about it.
const maxRaggedMasks = 1 << 30

// errNoMask is for objects whose mask is empty.
var errNoMask = errors.New("it has no mask: store a PNG for each object, or leave out Masks of the ObjectSpec")

// limitMasks sets an error for each record whose masks would exceed the limit of the batch. It
// counts masks before any is decoded, so that the order of work does not matter.
func (b *ImageBatch) limitMasks(s *ImageSpec, records []pipeline.Record, width, height int) {
	most := int64(maxRaggedMasks / (width * height))
	if s.Mix.MixUp != 0 {
		most /= 2 // each may be in two images
	}
	var e tfrecord.Example
	var o objects.Objects
	total := int64(0)
	for i := range records {
		b.objects[i].err = nil
		if e.Parse(records[i].Data) != nil {
			continue // decode reports it
		}
		list, _ := e.Get(objects.KeyMask)
		n := int64(list.Len())
		if s.dropsObjects() && o.Parse(&e.Features) == nil { // else decode reports it
			for k := range o.Masks {
				if s.dropsObject(&o, k) {
					n--
				}
			}
		}
		if n == 0 || total+n <= most {
			total += n
			continue
		}
		b.objects[i].err = fmt.Errorf("%w: %d masks of %dx%d in a batch that has %d of the records before: set MaxBoxes of the ObjectSpec, or make smaller batches or images",
			columns.ErrPadding, n, width, height, total)
	}
}

// submitObjectMasks decodes the masks of the objects that placeObjects has put into row i of the
// batch.
func (d *imageDecoder) submitObjectMasks(i int) error {
	dst := &d.batch.objects[i]
	shown := dst.indexes
	if most := d.spec.Objects.MaxBoxes; most > 0 {
		shown = shown[:min(len(shown), most)]
	}
	n := d.width * d.height
	dst.masks = flows.Resized(dst.masks, len(shown)*n)
	way := masks.NewWay(d.source.orientation, d.source.draw, &d.spec.Resize, 0)
	w, h := d.source.stored()
	for k, index := range shown {
		t, data := d.task(i, objects.KeyMask), d.objects.Masks[index]
		err := errNoMask
		if len(data) > 0 {
			err = d.mask(t, data, w, h, dst.masks[k*n:(k+1)*n], func() error {
				err := masks.DecodeObject(d.spec.Codec, &t.decoded, data)
				way.Begin(&t.Task, &t.decoded)
				return err
			})
		}
		if err := d.enqueue(t, err); err != nil {
			return fmt.Errorf("object %d: %w", index, err)
		}
	}
	return nil
}

// growMasks makes room for the masks of images, which are mixed or not.
func (j *objectJoiner) growMasks(rows []*imageObjects, mixed bool) {
	n := len(rows) * j.most
	if j.most == 0 {
		for _, row := range rows {
			n += len(row.boxes)
		}
		if mixed {
			n *= 2
		}
	}
	j.dst.Masks = slices.Grow(j.dst.Masks, n*j.width*j.height)
}

// padMasks appends n masks of no object.
func (j *objectJoiner) padMasks(n int) {
	from := len(j.dst.Masks)
	j.dst.Masks = slices.Grow(j.dst.Masks, n*j.width*j.height)[:from+n*j.width*j.height]
	clear(j.dst.Masks[from:])
}

// shapeMasks sets the shape of the masks of a number of images.
func (j *objectJoiner) shapeMasks(images int) {
	o := j.dst
	switch {
	case j.width == 0:
	case j.most == 0:
		o.MaskShape = append(o.MaskShape, len(o.Labels), j.height, j.width)
	default:
		o.MaskShape = append(o.MaskShape, images, j.most, j.height, j.width)
	}
}
