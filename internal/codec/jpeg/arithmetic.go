package jpeg

// Arithmetic-coded data cannot be checked: any bytes decode to something, an encoder leaves out the
// zeros at the end of a scan, and decoders fill in zeros where data are missing. So a cut image,
// and one without any data, decode as well as a whole one. libjpeg-turbo decodes it. This file
// checks the data around it and limits the work of decoding.

// The maximum number of blocks in the scans of an image in arithmetic coding, each counted once for
// each scan: a base, which takes libjpeg-turbo about half a second, and a number for each byte of
// entropy-coded data.
const (
	freeBlocks    = 1 << 20
	blocksPerByte = 16
)

// work is the amount of work that decoding an image takes.
type work struct {
	blocks int64 // of all scans
	bytes  int64 // of entropy-coded data, for arithmetic coding
}

// check returns an error for arithmetic coding whose work is out of proportion to the data.
func (w work) check(h *Header) error {
	if h.Arithmetic() && w.blocks > freeBlocks+blocksPerByte*w.bytes {
		return damagef("%d bytes of arithmetic-coded data are too few for the %d blocks of its scans, at %dx%d pixels",
			w.bytes, w.blocks, h.Width, h.Height)
	}
	return nil
}

// conditioning checks a DAC segment: pairs of a table and its bounds (ITU-T T.81, B.2.4.3).
func conditioning(seg []byte, pos int) error {
	if len(seg)%2 != 0 {
		return damagef("the arithmetic conditioning at byte %d is cut short", pos)
	}
	for ; len(seg) > 0; seg = seg[2:] {
		class, id, value := seg[0]>>4, seg[0]&15, seg[1]
		if class > 1 || id > 3 || class == 0 && value&15 > value>>4 || class == 1 && (value < 1 || value > 63) {
			return damagef("the arithmetic conditioning at byte %d has class %d, table %d and value %d", pos, class, id, value)
		}
	}
	return nil
}

// skip passes over the entropy-coded data of a scan, which begin at pos, and checks the restart
// markers between them. It returns where the next marker is.
func (c *checker) skip(s *scan, at, pos int) (int, error) {
	interval := s.units
	if c.restart > 0 {
		interval = c.restart
	}
	for first, number := 0, 0; ; number++ {
		buf, next, err := nextMarker(c.segment[:0], c.data, pos)
		if err != nil {
			return 0, err
		}
		c.segment = buf
		c.work.bytes += int64(len(buf))
		if first += interval; first >= s.units {
			return next, nil
		}
		after, ok := restartMarker(c.data, next, number)
		if !ok {
			return 0, missingRestart(number, next, at)
		}
		pos = after
	}
}
