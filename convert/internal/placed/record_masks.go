package placed

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/annotation/masks"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// decodeObjectMask decodes the mask of object i of a record into o.drawn.
func (s *Placer) decodeObjectMask(o *Objects, p *Mapping, i int) error {
	data := o.record.parsed.Masks[i]
	if _, err := masks.Check(s.Codec, data, p.storedWidth, p.storedHeight); err != nil {
		return err
	}
	return masks.DecodeObject(s.Codec, &o.drawn, data)
}

// followMask moves the mask of classes of a record, if it has one, with the pixels of its image.
func (s *Placer) followMask(o *Objects, p *Mapping) error {
	data := o.record.segmentation
	if data == nil {
		return nil
	}
	_, err := masks.Check(s.Codec, data, p.storedWidth, p.storedHeight)
	if err == nil {
		_, err = s.Codec.DecodeMask(&o.drawn, data)
	}
	if err == nil {
		err = s.StoreMask(o, p, p.storedWidth, p.storedHeight)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", objects.KeySegmentation, err)
	}
	return nil
}

// readMask notes the mask of classes of a record, which must follow the pixels.
func (f *record) readMask(value tfrecord.Feature) error {
	data, ok := value.Bytes()
	if !ok || value.Len() != 1 {
		return errors.New(objects.KeySegmentation + " is not one PNG")
	}
	f.segmentation = data
	return nil
}

// addMask adds a feature of masks that were moved under a name, and reports whether it is one.
func (o *Objects) addMask(b *tfrecord.Builder, name, key string) bool {
	f := &o.record
	switch {
	case key == objects.KeyMask && f.movesMasks:
		o.lists.bytes = o.appendMasks(o.lists.bytes[:0])
		b.Bytes(name, o.lists.bytes...)
	case key == objects.KeySegmentation && f.segmentation != nil:
		b.Bytes(name, o.Segmentation)
	case key == objects.KeySegmentationFormat && f.segmentation != nil:
		b.String(name, string(options.PNG))
	default:
		return false
	}
	return true
}
