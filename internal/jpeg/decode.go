package jpeg

import "slices"

// own is the decoder of this package. It scans the entropy-coded data as [Check] does, with the
// same verdict, and decodes at the same time: no check is needed before it. Its samples are those
// of libjpeg-turbo 2.1, bit by bit, for every image that an encoder makes: the accurate integer
// transform (jidctint.c) and the reduced ones (jidctred.c), smooth upsampling of the chroma
// (jdsample.c), colours as in jdcolor.c. It differs where a progressive image ends before all its
// scans have come, which libjpeg smoothes (jdcoefct.c).
type own struct{}

// name has a number that changes whenever the pixels of some image do: it is part of a
// data set's fingerprint.
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

// side is what a block of component i becomes at 1/denom. libjpeg (jdmaster.c) rather makes
// chroma blocks larger than enlarges their samples.
func (c *checker) side(i, denom int) int {
	hmax, vmax := c.h.maxSampling()
	p, least := &c.planes[i], 8/denom
	side := least
	for side < 8 && hmax*least%(p.H*side*2) == 0 && vmax*least%(p.V*side*2) == 0 {
		side *= 2
	}
	return side
}

// pixels makes of the planes what was asked for.
func (c *checker) pixels(dst []byte, stride int, r Request) {
	hmax, vmax := c.h.maxSampling()
	w, ht := c.h.Scaled(r.Denom)
	least := 8 / r.Denom
	n := c.h.N
	if r.Format == Gray {
		n = 1
	}
	for i := range c.planes[:n] {
		p := &c.planes[i]
		pw, ph := ceilDiv(c.h.Width*p.H*p.side, 8*hmax), ceilDiv(c.h.Height*p.V*p.side, 8*vmax)
		fx, fy := hmax*least/(p.H*p.side), vmax*least/(p.V*p.side)
		// libjpeg has no rows around the current one when a block is one sample.
		c.upsamplers[i].reset(p.pix, p.pitch, pw, ph, fx, fy, least > 1)
	}
	var rows [4][]byte
	for y := range ht {
		out := dst[y*stride:][:w*r.Format.Bytes()]
		luma := c.upsamplers[0].row(y)[:w]
		switch {
		case n == 1:
			copy(out, luma)
			continue
		case c.h.ColorSpace == ColorYCbCr:
			rgb(out, luma, &c.upsamplers[1], &c.upsamplers[2], y)
			continue
		case c.h.ColorSpace == ColorYCCK:
			c.line = slices.Grow(c.line[:0], 3*w)[:3*w]
			rgb(c.line, luma, &c.upsamplers[1], &c.upsamplers[2], y)
			for x, k := range c.upsamplers[3].row(y)[:w] {
				out[4*x], out[4*x+1], out[4*x+2], out[4*x+3] = ^c.line[3*x], ^c.line[3*x+1], ^c.line[3*x+2], k
			}
			continue
		}
		rows[0] = luma
		for i := 1; i < n; i++ {
			rows[i] = c.upsamplers[i].row(y)[:w]
		}
		if n == 3 { // RGB, as stored
			interleaveRow(out, rows[0], rows[1], rows[2])
			continue
		}
		for i, row := range rows { // CMYK, as stored
			for x, v := range row {
				out[4*x+i] = v
			}
		}
	}
}
