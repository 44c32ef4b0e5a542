package webp

// Prediction modes (RFC 6386, 11.2). The first four also apply to whole macroblocks.
const (
	modeDC = iota
	modeTM
	modeVE
	modeHE
	modeRD
	modeVR
	modeLD
	modeVL
	modeHD
	modeHU
	subblockPredictors
)

// readModes reads the header of a macroblock (RFC 6386, 19.3). It reports whether coefficients may
// follow.
func (d *vp8) readModes(mbx int) (coded bool) {
	r, m := &d.first, &d.mb
	if d.segments.mapped {
		if !r.bit(d.segments.probs[0]) {
			m.segment = r.number(d.segments.probs[1])
		} else {
			m.segment = 2 + r.number(d.segments.probs[2])
		}
	}
	coded = !d.skips || !r.bit(d.skipProb)
	above := &d.above[mbx]
	if m.whole = r.bit(145); m.whole {
		m.luma = wholeMode(r, 156, 163, 128)
		all := [4]uint8{m.luma, m.luma, m.luma, m.luma}
		above.modes, d.left.modes = all, all
	} else {
		for y := range 4 {
			mode := d.left.modes[y]
			for x := range 4 {
				mode = subblockMode(r, &subblockModes[above.modes[x]][mode])
				m.sub[4*y+x], above.modes[x] = mode, mode
			}
			d.left.modes[y] = mode
		}
	}
	switch {
	case !r.bit(142):
		m.chroma = modeDC
	case !r.bit(114):
		m.chroma = modeVE
	case !r.bit(183):
		m.chroma = modeHE
	default:
		m.chroma = modeTM
	}
	return coded
}

// wholeMode reads the mode of the luma of a macroblock.
func wholeMode(r *boolReader, a, b, c uint8) uint8 {
	if !r.bit(a) {
		if !r.bit(b) {
			return modeDC
		}
		return modeVE
	}
	if !r.bit(c) {
		return modeHE
	}
	return modeTM
}

// subblockMode reads the mode of a subblock.
func subblockMode(r *boolReader, p *[9]uint8) uint8 {
	switch {
	case !r.bit(p[0]):
		return modeDC
	case !r.bit(p[1]):
		return modeTM
	case !r.bit(p[2]):
		return modeVE
	case !r.bit(p[3]):
		switch {
		case !r.bit(p[4]):
			return modeHE
		case !r.bit(p[5]):
			return modeRD
		}
		return modeVR
	case !r.bit(p[6]):
		return modeLD
	case !r.bit(p[7]):
		return modeVL
	case !r.bit(p[8]):
		return modeHD
	}
	return modeHU
}
