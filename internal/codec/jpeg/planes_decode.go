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

// Planes reports, from the header alone, whether DecodePlanes can decode the image, and its chroma
// subsampling. This depends on the backend that Decode would try first.
func (s *Set) Planes(h *Header) (Subsampling, bool) {
	sub, ok := h.sampling()
	if ok {
		_, ok = s.first(h, Request{Format: RGB, Denom: 1}).(planeDecoder)
	}
	return sub, ok
}

// DecodePlanes is Decode without enlarging the chroma and without converting to RGB, for images for
// which Planes reports true. It ignores r.Format. It can decode at a reduced size if [Set.Reduces]
// reports so for RGB. The memory of dst is used if it is large enough; rows may have more bytes
// than samples.
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
