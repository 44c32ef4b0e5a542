package webp

// The loop filter (RFC 6386, 15). It works at the edges of macroblocks and at the edges of subblocks
// in them, on eight samples across an edge, named p3 to p0 and q0 to q3.

// filterLevels are the limits of a macroblock's filter, each repeated for the assembly, which knows
// the layout. An edge is filtered if the step across it is within edge, or macroblock, and all
// steps on both sides are within inner; if a step next to the edge exceeds uneven, less is changed.
type filterLevels struct {
	macroblock, edge, inner, uneven [16]uint8
	on                              bool
}

// set makes the limits of a level (RFC 6386, 15.4).
func (f *filterLevels) set(level int8, sharpness uint8) {
	if f.on = level > 0; !f.on {
		return
	}
	level = min(level, 63)
	inner := level
	if sharpness > 0 {
		inner >>= 1
		if sharpness > 4 {
			inner >>= 1
		}
		inner = min(inner, 9-int8(sharpness))
	}
	inner = max(inner, 1)
	edge := 2*uint8(level) + uint8(inner)
	uneven := uint8(0)
	if level >= 40 {
		uneven = 2
	} else if level >= 15 {
		uneven = 1
	}
	for i := range 16 {
		f.macroblock[i], f.edge[i], f.inner[i], f.uneven[i] = edge+4, edge, uint8(inner), uneven
	}
}

// filterRow filters a row of macroblocks and the lower edge of the row above it.
func (d *vp8) filterRow(mby int) {
	y, cb, cr := d.img.Y, d.img.Cb, d.img.Cr
	yStride, cStride := d.img.YStride, d.img.CStride
	for mbx, f := range d.filters {
		if !f.levels.on {
			continue
		}
		yOff, cOff := 16*(mby*yStride+mbx), 8*(mby*cStride+mbx)
		if d.filter.simple {
			if mbx > 0 {
				simpleAcross(y, yOff, yStride, &f.levels.macroblock)
			}
			if f.inner {
				for i := 4; i < 16; i += 4 {
					simpleAcross(y, yOff+i, yStride, &f.levels.edge)
				}
			}
			if mby > 0 {
				simpleDown(y, yOff, yStride, &f.levels.macroblock)
			}
			if f.inner {
				for i := 4; i < 16; i += 4 {
					simpleDown(y, yOff+i*yStride, yStride, &f.levels.edge)
				}
			}
			continue
		}
		if mbx > 0 {
			outerAcrossLuma(y, yOff, yStride, f.levels)
			outerAcrossChroma(cb, cr, cOff, cStride, f.levels)
		}
		if f.inner {
			innerAcrossLuma(y, yOff, yStride, f.levels)
			innerAcrossChroma(cb, cr, cOff, cStride, f.levels)
		}
		if mby > 0 {
			outerDownLuma(y, yOff, yStride, f.levels)
			outerDownChroma(cb, cr, cOff, cStride, f.levels)
		}
		if f.inner {
			innerDownLuma(y, yOff, yStride, f.levels)
			innerDownChroma(cb, cr, cOff, cStride, f.levels)
		}
	}
}
