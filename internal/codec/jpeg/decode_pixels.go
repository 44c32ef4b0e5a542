package jpeg

import (
	"slices"
	"sync"
)

// bandRows is the number of rows of pixels converted at a time when goroutines share them.
const bandRows = 64

// pixelRows makes pixels of planes, row by row.
type pixelRows struct {
	upsamplers [4]upsampler
	line       []byte // a row of pixels
}

var pixelRowsPool = sync.Pool{New: func() any { return new(pixelRows) }}

// forget lets go of the planes.
func (p *pixelRows) forget() {
	for i := range p.upsamplers {
		p.upsamplers[i].plane = nil
	}
}

// pixels converts the planes to the requested pixels.
func (c *checker) pixels(dst []byte, stride int, r Request) {
	_, ht := c.h.Scaled(r.Denom)
	if !c.large() {
		c.rows.make(c, dst, stride, r, 0, ht)
		return
	}
	c.share(ceilDiv(ht, bandRows), func(i int) {
		p := pixelRowsPool.Get().(*pixelRows)
		p.make(c, dst, stride, r, i*bandRows, min((i+1)*bandRows, ht))
		p.forget()
		pixelRowsPool.Put(p)
	})
}

// make makes the rows from top to before bottom.
func (p *pixelRows) make(c *checker, dst []byte, stride int, r Request, top, bottom int) {
	hmax, vmax := c.h.maxSampling()
	w, _ := c.h.Scaled(r.Denom)
	least := 8 / r.Denom
	n := c.h.N
	if r.Format == Gray {
		n = 1
	}
	for i := range c.planes[:n] {
		from := &c.planes[i]
		pw, ph := ceilDiv(c.h.Width*from.H*from.side, 8*hmax), ceilDiv(c.h.Height*from.V*from.side, 8*vmax)
		fx, fy := hmax*least/(from.H*from.side), vmax*least/(from.V*from.side)
		// libjpeg has no rows around the current one when a block is one sample.
		p.upsamplers[i].reset(from.pix, from.pitch, pw, ph, fx, fy, least > 1)
	}
	first := &p.upsamplers[0]
	colors := conversion{stride: stride, w: w, cb: &p.upsamplers[1], cr: &p.upsamplers[2]}
	if n == 3 && c.h.ColorSpace == ColorYCbCr && first.fx*first.fy == 1 {
		colors.dst, colors.luma, colors.pitch = dst[top*stride:], first.plane[top*first.stride:], first.stride
		colors.top, colors.bottom = top, bottom
		colors.convert()
		return
	}
	var rows [4][]byte
	for y := top; y < bottom; y++ {
		out := dst[y*stride:][:w*r.Format.Bytes()]
		luma := first.row(y)[:w]
		colors.luma, colors.top, colors.bottom = luma, y, y+1
		switch {
		case n == 1:
			copy(out, luma)
			continue
		case c.h.ColorSpace == ColorYCbCr:
			colors.dst = out
			colors.convert()
			continue
		case c.h.ColorSpace == ColorYCCK:
			p.line = slices.Grow(p.line[:0], 3*w)[:3*w]
			colors.dst = p.line
			colors.convert()
			for x, k := range p.upsamplers[3].row(y)[:w] {
				out[4*x], out[4*x+1], out[4*x+2], out[4*x+3] = ^p.line[3*x], ^p.line[3*x+1], ^p.line[3*x+2], k
			}
			continue
		}
		rows[0] = luma
		for i := 1; i < n; i++ {
			rows[i] = p.upsamplers[i].row(y)[:w]
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
