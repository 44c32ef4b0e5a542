package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"slices"

	"github.com/gen2brain/jpegn"
)

// planeDecoder is a backend that gives planes.
type planeDecoder interface {
	decoder
	// decodePlanes makes dst, whose memory it may reuse or replace, the planes of a picture
	// that supports accepts and that has a [Header.sampling].
	decodePlanes(dst *Planar, data []byte, h *Header, denom int) error
}

// Planes says, from the header alone, whether DecodePlanes gives the picture's planes, and how
// much smaller the chroma planes are. The backend is the one that Decode would ask first.
func (s *Set) Planes(h *Header) (Subsampling, bool) {
	sub, ok := h.sampling()
	if ok {
		_, ok = s.first(h, Request{Format: RGB, Denom: 1}).(planeDecoder)
	}
	return sub, ok
}

// DecodePlanes is Decode without enlarging the chroma and without converting to RGB, for
// pictures of which Planes says that it is possible; r.Format is of no matter. It reduces when
// [Set.Reduces] says so for RGB. What it makes of dst's memory is up to the backend: one fills
// it when it is large enough, others come with memory of their own.
func (s *Set) DecodePlanes(dst *Planar, data []byte, h *Header, r Request) error {
	sub, ok := h.sampling()
	if !ok {
		return fmt.Errorf("decoding JPEG to planes: %s has none of use", h.coding())
	}
	if h.NoTables {
		data = slices.Concat(data[:2], standardDHT, data[2:])
	}
	w, ht := h.Scaled(r.Denom)
	var refusals []error
	for _, d := range s.decoders {
		p, ok := d.(planeDecoder)
		if !ok || !d.supports(h, Request{Format: RGB, Denom: r.Denom}) {
			continue
		}
		err := guardedPlanes(p, dst, data, h, r.Denom)
		if _, warned := err.(warning); warned {
			if r.Unchecked {
				return damagef("%v", err)
			}
			err = nil // Check has seen no damage
		}
		if err == nil && (dst.Width != w || dst.Height != ht || dst.Sampling != sub) {
			err = fmt.Errorf("planes of %dx%d, %v, came out as %dx%d, %v", w, ht, sub, dst.Width, dst.Height, dst.Sampling)
		}
		if err == nil {
			return nil
		}
		refusals = append(refusals, fmt.Errorf("%s: %w", d.name(), err))
		if r.Unchecked {
			// The others do not notice damage: search for it before they are asked.
			if err := Check(data, h); err != nil {
				return err
			}
			r.Unchecked = false
		}
	}
	if len(refusals) == 0 {
		return unsupportedf("%s; none of %s gives its planes", h.coding(), s.names())
	}
	return unsupportedf("%v", errors.Join(refusals...))
}

// guardedPlanes makes a decoder's panic an error.
func guardedPlanes(d planeDecoder, dst *Planar, data []byte, h *Header, denom int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it broke down: %v", p)
		}
	}()
	return d.decodePlanes(dst, data, h, denom)
}

func (jpegnDecoder) decodePlanes(dst *Planar, data []byte, _ *Header, _ int) error {
	m, err := jpegn.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return dst.take(m)
}

func (stdCodec) decodePlanes(dst *Planar, data []byte, _ *Header, _ int) error {
	m, err := stdjpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return dst.take(m)
}

// take makes p what a Go decoder returned, without a copy: these decoders make new planes for
// each picture and forget them.
func (p *Planar) take(m image.Image) error {
	ycc, ok := m.(*image.YCbCr)
	if !ok {
		return fmt.Errorf("it came out as %T", m)
	}
	switch ycc.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		p.Sampling = Sub420
	case image.YCbCrSubsampleRatio422:
		p.Sampling = Sub422
	case image.YCbCrSubsampleRatio444:
		p.Sampling = Sub444
	case image.YCbCrSubsampleRatio440:
		p.Sampling = Sub440
	default:
		return fmt.Errorf("it came out in the ratio %v", ycc.SubsampleRatio)
	}
	p.Width, p.Height = ycc.Rect.Dx(), ycc.Rect.Dy()
	p.Pix = [3][]byte{ycc.Y, ycc.Cb, ycc.Cr}
	p.Stride = [3]int{ycc.YStride, ycc.CStride, ycc.CStride}
	return p.check()
}
