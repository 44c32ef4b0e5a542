package sample

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/masks"
	"github.com/tfrec/tfrec/internal/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// decodeObjectMask decodes the mask of object i of a record into m.drawn.
func (s *placer) decodeObjectMask(m *Work, p *placement, i int) error {
	data := m.followed.parsed.Masks[i]
	if _, err := masks.Check(s.codec, data, p.storedWidth, p.storedHeight); err != nil {
		return err
	}
	return masks.DecodeObject(s.codec, &m.drawn, data)
}

// followMask moves the mask of classes of a record, if it has one, with the pixels of its image.
func (s *placer) followMask(m *Work, p *placement) error {
	data := m.followed.segmentation
	if data == nil {
		return nil
	}
	_, err := masks.Check(s.codec, data, p.storedWidth, p.storedHeight)
	if err == nil {
		_, err = s.codec.DecodeMask(&m.drawn, data)
	}
	if err == nil {
		err = s.storeMask(m, p, p.storedWidth, p.storedHeight)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", objects.KeySegmentation, err)
	}
	return nil
}

// readMask notes the mask of classes of a record, which must follow the pixels.
func (f *followed) readMask(value tfrecord.Feature) error {
	data, ok := value.Bytes()
	if !ok || value.Len() != 1 {
		return errors.New(objects.KeySegmentation + " is not one PNG")
	}
	f.segmentation = data
	return nil
}

// addMask adds a feature of masks that were moved under a name, and reports whether it is one.
func (f *followed) addMask(b *tfrecord.Builder, name, key string, m *Work) bool {
	switch {
	case key == objects.KeyMask && f.movesMasks:
		f.bytes = m.Objects.appendMasks(f.bytes[:0])
		b.Bytes(name, f.bytes...)
	case key == objects.KeySegmentation && f.segmentation != nil:
		b.Bytes(name, m.Segmentation)
	case key == objects.KeySegmentationFormat && f.segmentation != nil:
		b.String(name, string(options.PNG))
	default:
		return false
	}
	return true
}

// carriedMasks returns how many masks of a sample's record may have to follow its pixels.
func (s *placer) carriedMasks(m *Work) (n int64) {
	e := &m.Record.row
	if m.beside.Record == nil || !s.Carried.MovesObjects(s.Options) || e.Parse(m.beside.Record) != nil {
		return 0
	}
	for _, key := range []string{objects.KeyMask, objects.KeySegmentation} {
		value, _ := e.Get(key)
		n += int64(value.Len())
	}
	return n
}
