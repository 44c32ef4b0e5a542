package jpeg

import (
	"errors"
	"fmt"
)

// planeDecoder is a backend that gives planes.
type planeDecoder interface {
	decoder
	// decodePlanes makes dst, whose memory it may reuse or replace, the planes of an image
	// that supports accepts and that has a [Header.sampling].
	decodePlanes(dst *Planar, data []byte, h *Header, r Request) error
}

// Planes says, from the header alone, whether DecodePlanes gives the image's planes, and how
// much smaller the chroma planes are. The backend is the one that Decode would ask first.
func (s *Set) Planes(h *Header) (Subsampling, bool) {
	sub, ok := h.sampling()
	if ok {
		_, ok = s.first(h, Request{Format: RGB, Denom: 1}).(planeDecoder)
	}
	return sub, ok
}

// DecodePlanes is Decode without enlarging the chroma and without converting to RGB, for
// images of which Planes says that it is possible; r.Format is of no matter. It reduces when
// [Set.Reduces] says so for RGB. The memory of dst is used where it is large enough; rows may
// have more bytes than samples.
func (s *Set) DecodePlanes(dst *Planar, data []byte, h *Header, r Request) error {
	sub, ok := h.sampling()
	if !ok {
		return fmt.Errorf("decoding JPEG to planes: %s has none of use", h.coding())
	}
	w, ht := h.Scaled(r.Denom)
	r.Format = RGB
	return s.ask(data, h, r, func(d decoder, data []byte) error {
		p, ok := d.(planeDecoder)
		if !ok {
			return errors.New("it gives no planes")
		}
		err := p.decodePlanes(dst, data, h, r)
		if err == nil && (dst.Width != w || dst.Height != ht || dst.Sampling != sub) {
			err = fmt.Errorf("planes of %dx%d, %v, came out as %dx%d, %v", w, ht, sub, dst.Width, dst.Height, dst.Sampling)
		}
		return err
	})
}
