package jpeg

// Tables of the conversion from YCbCr (JFIF, ITU-R BT.601 over the full range), in 16 bits of
// fraction, rounded as libjpeg rounds (jdcolor.c), so that pixels agree between backends.
var (
	crToR, cbToB, crToG, cbToG [256]int32
)

func init() {
	for i := range 256 {
		x := int32(i) - 128
		crToR[i] = (91881*x + 1<<15) >> 16
		cbToB[i] = (116130*x + 1<<15) >> 16
		crToG[i] = -46802 * x
		cbToG[i] = -22554*x + 1<<15
	}
}

// clamp brings v to the range of a byte.
func clamp(v int32) byte {
	if uint32(v) > 255 {
		return byte(^(v >> 31))
	}
	return byte(v)
}

// RGB writes the image as RGB, rows stride bytes apart, its chroma enlarged as libjpeg does
// it. p must be as a decoder makes it.
func (p *Planar) RGB(dst []byte, stride int) { p.RGBOf(dst, stride, 0, 0, p.Width, p.Height) }

// RGBOf is RGB of the w by h pixels from x, y on, which must be within the image: the same pixels
// as if all were converted.
func (p *Planar) RGBOf(dst []byte, stride, x, y, w, h int) {
	across, down := p.Sampling.Factors()
	e := upsamplers.Get().(*[2]upsampler)
	defer upsamplers.Put(e)
	for i := range e {
		cw, ch := p.size(i + 1)
		e[i].reset(p.Pix[i+1], p.Stride[i+1], cw, ch, across, down, true)
	}
	luma := p.Pix[0][y*p.Stride[0]+x:]
	if w == p.Width {
		(&conversion{dst: dst, stride: stride, luma: luma, pitch: p.Stride[0], w: w, cb: &e[0], cr: &e[1], top: y, bottom: y + h}).convert()
	} else {
		for i := range h {
			convertRow(dst[i*stride:][:3*w], luma[i*p.Stride[0]:][:w], e[0].row(y + i)[x:], e[1].row(y + i)[x:])
		}
	}
	e[0].plane, e[1].plane = nil, nil
}

// conversion converts rows of pixels to RGB.
type conversion struct {
	dst         []byte // rows stride bytes apart
	stride      int
	luma        []byte // rows of w samples, pitch bytes apart
	pitch, w    int
	cb, cr      *upsampler // as wide as the luma or wider when enlarged
	top, bottom int        // from row top, the first one of dst and luma, to before row bottom
}

func (c *conversion) convert() {
	if c.doubled() {
		return
	}
	for y := c.top; y < c.bottom; y++ {
		i := y - c.top
		convertRow(c.dst[i*c.stride:][:3*c.w], c.luma[i*c.pitch:][:c.w], c.cb.row(y), c.cr.row(y))
	}
}

// convertRowPlain converts a row of full planes.
func convertRowPlain(dst, luma, cb, cr []byte) {
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	dst = dst[:3*len(luma)]
	for x, v := range luma {
		y, u, w := int32(v), cb[x], cr[x]
		p := dst[3*x : 3*x+3 : 3*x+3]
		p[0] = clamp(y + crToR[w])
		p[1] = clamp(y + (cbToG[u]+crToG[w])>>16)
		p[2] = clamp(y + cbToB[u])
	}
}

// interleaveRowPlain makes pixels of a row of three colours.
func interleaveRowPlain(dst, red, green, blue []byte) {
	green, blue = green[:len(red)], blue[:len(red)]
	dst = dst[:3*len(red)]
	for x, v := range red {
		p := dst[3*x : 3*x+3 : 3*x+3]
		p[0], p[1], p[2] = v, green[x], blue[x]
	}
}
