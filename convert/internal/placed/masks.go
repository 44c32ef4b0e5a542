package placed

import (
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/maskcolors"
	"github.com/tfrec/tfrec/internal/annotation/masks"
	"github.com/tfrec/tfrec/internal/codec/orientation"
	"github.com/tfrec/tfrec/internal/jsontext"
)

// DecodeMask decodes the file of a mask of classes, to be moved or stored, and returns its size.
// Name is for errors.
func (s *Placer) DecodeMask(o *Objects, p *Mapping, name string, file []byte) (w, h int, err error) {
	info, err := s.Codec.Stat(file)
	if err != nil {
		return 0, 0, fmt.Errorf("mask %s: %w", jsontext.Readable(name), err)
	}
	w, h = info.Oriented()
	if turned := p.turned(w, h); !turned && (w != p.Width || h != p.Height) {
		return 0, 0, fmt.Errorf("mask %s is %dx%d, and the image %dx%d", jsontext.Readable(name), w, h, p.Width, p.Height)
	}
	if s.Colors != nil && masks.IsRGB(info) {
		err = s.Colors.Table.Decode(s.Codec, &o.drawn, file)
	} else if _, err = s.Codec.DecodeMask(&o.drawn, file); err != nil && !info.Mask && s.Masks {
		err = fmt.Errorf("%w, or RGB with 8 bits a sample and no transparency, with the colours of classes in %s, in the directory of masks or next to it", err, maskcolors.File)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("mask %s: %w", jsontext.Readable(name), err)
	}
	return w, h, nil
}

// Move moves the last decoded mask of classes, which is annotated on an image of w x h pixels, to the
// stored image. The result is valid until the next mask.
func (s *Placer) Move(o *Objects, p *Mapping, w, h int) (*augment.Image, error) {
	return o.move(p, w, h, s.Options.Annotations.FillClass())
}

// StoreMask makes Segmentation of the last decoded mask, which is annotated on an image of w x h pixels.
func (s *Placer) StoreMask(o *Objects, p *Mapping, w, h int) error {
	moved, err := s.Move(o, p, w, h)
	if err == nil {
		o.Segmentation, err = augment.AppendPNG(o.Segmentation[:0], moved)
	}
	return err
}

// move moves the mask in o.drawn, which has one channel and is annotated on an image of w x h pixels,
// to the stored image, taking the nearest pixels; outside of the mask they are fill.
func (o *Objects) move(p *Mapping, w, h int, fill uint8) (*augment.Image, error) {
	exif := 1
	switch turned := p.turned(w, h); {
	case p.keeps && !turned:
		exif = orientation.Inverse(p.orientation)
	case !p.keeps && turned:
		exif = p.orientation
	}
	way := masks.NewWay(exif, p.Draw, p.resize, fill)
	if way.Stays() {
		return &o.drawn, nil
	}
	t := &o.task
	t.Scratch = o.scratch
	way.Begin(t, &o.drawn)
	tasks := [1]*augment.Task{t}
	_ = augment.CPU{}.Render(tasks[:]) // the error is the task's
	return &t.Pixels, t.Err
}
