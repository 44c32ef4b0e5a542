package jpeg

// own is the decoder of this package. It scans the entropy-coded data as [Check] does, with the
// same verdict, and decodes at the same time, so no check is needed before it. Its samples equal
// libjpeg-turbo 2.1's, bit by bit, for every image that an encoder makes: the accurate integer
// transform (jidctint.c) and the reduced ones (jidctred.c), smooth upsampling of the chroma
// (jdsample.c), colours as in jdcolor.c. It differs for progressive images that end before all
// their scans have come, which libjpeg smooths (jdcoefct.c).
type own struct{}

// name includes a number that changes whenever the pixels of some image do: it is part of a data
// set's fingerprint.
func (own) name() string { return "tfrec 1" }

// checks implements damageChecker.
func (own) checks() {}

// supports: as libjpeg, sampling factors that divide the largest.
func (own) supports(h *Header, _ Request) bool {
	if !h.Huffman() || h.ColorSpace == ColorOther {
		return false
	}
	hmax, vmax := h.maxSampling()
	for _, c := range h.Components[:h.N] {
		if hmax%c.H != 0 || vmax%c.V != 0 {
			return false
		}
	}
	return true
}

func (own) decodePlanes(dst *Planar, data []byte, h *Header, r Request) (err error) {
	c := takeChecker()
	defer c.release()
	defer c.recovered(&err)
	c.reset(data, h)
	dst.Width, dst.Height = h.Scaled(r.Denom)
	dst.Sampling, _ = h.sampling()
	if c.decoding = h.Plausible(len(data)); c.decoding {
		hmax, vmax := h.maxSampling()
		c.part, c.spare = r.part(data, h), r.Spare
		for i := range dst.Pix {
			p := &c.planes[i]
			p.aim(dst.Pix[i], 8/r.Denom)
			if !r.Part.Empty() {
				p.restrict(r.Part, 8*hmax/p.H, 8*vmax/p.V)
			}
			dst.Pix[i], dst.Stride[i] = p.pix, p.pitch
		}
	}
	return c.run()
}

func (own) decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	c := takeChecker()
	defer c.release()
	return c.decode(dst, stride, data, h, r)
}

// decode decodes an image to pixels, with the checker's buffers.
func (c *checker) decode(dst []byte, stride int, data []byte, h *Header, r Request) (err error) {
	defer c.recovered(&err)
	c.reset(data, h)
	c.spare = r.Spare
	if c.decoding = h.Plausible(len(data)); c.decoding {
		wanted := h.N
		if r.Format == Gray {
			wanted = 1
		}
		for i := range c.planes[:wanted] {
			c.planes[i].aim(c.pix[i], c.side(i, r.Denom))
			c.pix[i] = c.planes[i].pix
		}
	}
	if err := c.run(); err != nil {
		return err
	}
	c.pixels(dst, stride, r)
	return nil
}

// side returns the side in samples of a block of component i at 1/denom. libjpeg (jdmaster.c)
// prefers larger chroma blocks to enlarging their samples.
func (c *checker) side(i, denom int) int {
	hmax, vmax := c.h.maxSampling()
	p, least := &c.planes[i], 8/denom
	side := least
	for side < 8 && hmax*least%(p.H*side*2) == 0 && vmax*least%(p.V*side*2) == 0 {
		side *= 2
	}
	return side
}
