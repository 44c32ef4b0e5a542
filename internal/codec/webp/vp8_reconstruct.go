package webp

import "encoding/binary"

// The buffer in which a macroblock is predicted has rows 32 bytes apart: a row above the luma with
// four samples to the right of it, 16 rows of luma, a row above the chroma, and 8 rows of chroma,
// Cr to the right of Cb. To the left of each is the last column of the macroblock to the left. The
// four samples at the upper right are repeated to the right of every fourth row, for the subblocks
// there. The assembly knows the layout.
const (
	workStride = 32
	yAt        = workStride + 8
	cbAt       = 18*workStride + 8
	crAt       = cbAt + 16
)

// reconstruct makes the samples of a macroblock.
func (d *vp8) reconstruct(mbx, mby int, coded bool) {
	m := &d.mb
	d.borders(mbx, mby)
	if m.whole {
		predictLuma(&m.work, m.luma, mbx > 0, mby > 0)
		if coded {
			for i, end := range m.ends[:16] {
				addResidual(m, end, i, yAt+4*(i&3)+4*workStride*(i>>2))
			}
		}
	} else {
		for i, mode := range m.sub {
			at := yAt + 4*(i&3) + 4*workStride*(i>>2)
			predictSubblock(&m.work, at, mode)
			if coded {
				addResidual(m, m.ends[i], i, at)
			}
		}
	}
	predictChroma(&m.work, m.chroma, mbx > 0, mby > 0)
	if coded {
		for i, end := range m.ends[16:] {
			addResidual(m, end, 16+i, cbAt+4*(i&1)+4*workStride*(i>>1&1)+16*(i>>2))
		}
	}
	d.store(mbx, mby)
}

// addResidual adds block i to its prediction at a place in the buffer, and makes it zeros again.
func addResidual(m *macroblock, end uint8, i, at int) {
	if end == 0 {
		return
	}
	coefs := (*[16]int16)(m.coefs[16*i:])
	if end == 1 {
		addDC(&m.work, at, coefs[0])
		coefs[0] = 0
		return
	}
	inverseDCT(&m.work, at, coefs)
}

// borders puts the samples around a macroblock into the buffer.
func (d *vp8) borders(mbx, mby int) {
	w := &d.mb.work
	if mbx == 0 {
		for at := yAt - workStride - 1; at < yAt+16*workStride-1; at += workStride {
			w[at] = 0x81
		}
		for at := cbAt - workStride - 1; at < cbAt+8*workStride-1; at += workStride {
			w[at], w[at+16] = 0x81, 0x81
		}
	} else {
		for at := yAt - workStride - 1; at < yAt+16*workStride-1; at += workStride {
			w[at] = w[at+16]
		}
		for at := cbAt - workStride - 1; at < cbAt+8*workStride-1; at += workStride {
			w[at], w[at+16] = w[at+8], w[at+24]
		}
	}
	const above, aboveCb, aboveCr = yAt - workStride, cbAt - workStride, crAt - workStride
	if mby == 0 {
		for i := range 21 {
			w[above-1+i] = 0x7F
		}
		for i := range 9 {
			w[aboveCb-1+i], w[aboveCr-1+i] = 0x7F, 0x7F
		}
	} else {
		copy(w[above:above+20], d.lastY[16*mbx:])
		copy(w[aboveCb:aboveCb+8], d.lastCb[8*mbx:])
		copy(w[aboveCr:aboveCr+8], d.lastCr[8*mbx:])
	}
	right := binary.LittleEndian.Uint32(w[above+16:])
	for y := 4; y < 16; y += 4 {
		binary.LittleEndian.PutUint32(w[above+16+workStride*y:], right)
	}
}

// store copies a macroblock to the planes, and its last line to where the next row finds it.
func (d *vp8) store(mbx, mby int) {
	w := &d.mb.work
	stride := d.img.YStride
	y := d.img.Y[16*(mby*stride+mbx):]
	for i := range 16 {
		*(*[16]byte)(y[i*stride:]) = *(*[16]byte)(w[yAt+i*workStride:])
	}
	stride = d.img.CStride
	cb, cr := d.img.Cb[8*(mby*stride+mbx):], d.img.Cr[8*(mby*stride+mbx):]
	for i := range 8 {
		*(*[8]byte)(cb[i*stride:]) = *(*[8]byte)(w[cbAt+i*workStride:])
		*(*[8]byte)(cr[i*stride:]) = *(*[8]byte)(w[crAt+i*workStride:])
	}
	copy(d.lastY[16*mbx:16*mbx+16], w[yAt+15*workStride:])
	copy(d.lastCb[8*mbx:8*mbx+8], w[cbAt+7*workStride:])
	copy(d.lastCr[8*mbx:8*mbx+8], w[crAt+7*workStride:])
	if mbx == d.mbw-1 { // repeat the last sample to its right
		binary.LittleEndian.PutUint32(d.lastY[16*d.mbw:], uint32(d.lastY[16*d.mbw-1])*(everyByte&0xFFFFFFFF))
	}
}
