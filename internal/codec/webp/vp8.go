package webp

import "image"

// mbContext is the context that a macroblock leaves for the ones below and to the right of it.
type mbContext struct {
	modes  [4]uint8 // of the subblocks at its lower or right edge
	luma   [4]uint8 // 1 for each of them that has coefficients
	chroma [4]uint8 // likewise, two of Cb and two of Cr
	dc     uint8    // 1 if the last macroblock with a block of DC coefficients has any in it
}

// vp8 decodes key frames of VP8.
type vp8 struct {
	width, height int
	mbw, mbh      int // in macroblocks
	img           image.YCbCr
	planes        []byte

	first    boolReader
	parts    [8]boolReader
	nParts   int
	segments segmentHeader
	filter   filterHeader
	steps    [4]quantizer
	levels   [4][2]filterLevels // by segment and by whether subblocks are predicted each
	tokens   [planes]tokenProbs
	skips    bool // macroblocks without coefficients are marked
	skipProb uint8

	above   []mbContext
	left    mbContext
	filters []mbFilter // of the row
	// The last line of the row above, before it is filtered.
	lastY, lastCb, lastCr []byte

	mb macroblock
}

// macroblock is the macroblock at work.
type macroblock struct {
	segment int
	whole   bool      // luma is predicted in one piece
	luma    uint8     // its mode then
	sub     [16]uint8 // and otherwise the modes of the subblocks
	chroma  uint8
	ends    [24]uint8 // ends of the coefficients of each block in zigzag order
	coefs   [25 * 16]int16
	work    [26 * workStride]byte
}

// mbFilter is the filter of a macroblock.
type mbFilter struct {
	levels *filterLevels
	inner  bool
}

// decode decodes the frame whose header was read, into img.
func (d *vp8) decode(body []byte) error {
	if err := d.otherHeaders(body); err != nil {
		return err
	}
	d.allocate()
	clear(d.above)
	clear(d.mb.coefs[:])
	d.mb.segment = 0
	for mby := range d.mbh {
		part := &d.parts[mby&(d.nParts-1)]
		d.left = mbContext{}
		for mbx := range d.mbw {
			coded := d.readModes(mbx)
			if coded {
				coded = d.readCoefficients(part, mbx)
			} else {
				d.noCoefficients(mbx)
			}
			d.reconstruct(mbx, mby, coded)
			i := 0
			if !d.mb.whole {
				i = 1
			}
			d.filters[mbx] = mbFilter{&d.levels[d.mb.segment][i], coded || !d.mb.whole}
		}
		if d.first.end || part.end {
			return errShort
		}
		if d.filter.level != 0 {
			d.filterRow(mby)
		}
	}
	return nil
}

// allocate allocates the planes, which have whole macroblocks, and the memory for a row.
func (d *vp8) allocate() {
	ySize, cSize := 256*d.mbw*d.mbh, 64*d.mbw*d.mbh
	d.planes = sized(d.planes, ySize+2*cSize)
	d.img = image.YCbCr{
		Y: d.planes[:ySize:ySize], Cb: d.planes[ySize : ySize+cSize : ySize+cSize], Cr: d.planes[ySize+cSize:],
		YStride: 16 * d.mbw, CStride: 8 * d.mbw,
		SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, d.width, d.height),
	}
	d.above = sized(d.above, d.mbw)
	d.filters = sized(d.filters, d.mbw)
	d.lastY = sized(d.lastY, 16*d.mbw+4)
	d.lastCb = sized(d.lastCb, 8*d.mbw)
	d.lastCr = sized(d.lastCr, 8*d.mbw)
}

func (d *vp8) held() int { return cap(d.planes) }
