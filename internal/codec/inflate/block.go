package inflate

import "io"

// more gets the next piece of data. It returns io.ErrUnexpectedEOF if there is none.
func (r *Reader) more() error {
	c := &r.codec
	if r.ended {
		return io.ErrUnexpectedEOF
	}
	r.passed += int64(len(c.in))
	c.in, c.at = nil, 0
	piece, err := r.source.Piece()
	if err == io.EOF {
		r.ended = true
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	c.in = piece
	return nil
}

// need makes n bits available, at most 32.
func (r *Reader) need(n uint64) error {
	c := &r.codec
	for c.count < n {
		for c.at == len(c.in) {
			if err := r.more(); err != nil {
				return err
			}
		}
		c.bits |= uint64(c.in[c.at]) << c.count
		c.at++
		c.count += 8
	}
	return nil
}

// take returns the next n bits, which must be available.
func (c *codec) take(n uint64) int {
	v := c.bits & (1<<n - 1)
	c.bits >>= n
	c.count -= n
	return int(v)
}

// align drops the bits up to the next byte.
func (c *codec) align() { c.take(c.count % 8) }

// step decompresses something, as long as the caller has no n bytes to take or no data are missing.
func (r *Reader) step(n int) error {
	switch r.state {
	case between:
		return r.another(n)
	case inHeader:
		return r.header()
	case inBlock:
		return r.block(n)
	case inStored:
		return r.copyStored()
	case inCodes:
		return r.codes(n)
	case inTrailer:
		return r.trailer()
	case inPadding:
		return r.padding(n)
	}
	return io.EOF
}

// block reads the header of a block.
func (r *Reader) block(n int) error {
	if r.last {
		r.state = inTrailer
		return nil
	}
	c := &r.codec
	if c.count < 3 && c.at == len(c.in) && c.pos-r.taken >= n {
		return nil // enough for now
	}
	if err := r.need(3); err != nil {
		return err
	}
	r.last = c.take(1) == 1
	switch c.take(2) {
	case 0:
		c.align()
		if err := r.need(32); err != nil {
			return err
		}
		size, complement := c.take(16), c.take(16)
		if size^complement != 0xFFFF {
			return r.fail("a stored block with two sizes")
		}
		r.stored, r.state = size, inStored
	case 1:
		c.lit, c.dist, r.literals, r.state = &fixedLit, &fixedDist, fixedLengths[:], inCodes
	case 2:
		if err := r.readCodes(); err != nil {
			return err
		}
		c.lit, c.dist, r.literals, r.state = &r.lit, &r.dist, r.lengths[:], inCodes
	default:
		return r.fail("a block of unknown type")
	}
	return nil
}

// copyStored copies some of a stored block.
func (r *Reader) copyStored() error {
	c := &r.codec
	for r.stored > 0 && c.count > 0 {
		c.out[c.pos] = byte(c.take(8))
		c.pos++
		r.stored--
	}
	if r.stored > 0 && c.at == len(c.in) {
		return r.more()
	}
	n := copy(c.out[c.pos:], c.in[c.at:min(len(c.in), c.at+r.stored)])
	c.pos, c.at, r.stored = c.pos+n, c.at+n, r.stored-n
	if r.stored == 0 {
		r.state = inBlock
	}
	return nil
}

// preOrder is the order of the lengths of codes for lengths.
var preOrder = [maxPre]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a block.
func (r *Reader) readCodes() error {
	c := &r.codec
	if err := r.need(14); err != nil {
		return err
	}
	lits, dists, pres := c.take(5)+257, c.take(5)+1, c.take(4)+4
	if lits > 286 || dists > 30 {
		return r.fail("a block with too many symbols")
	}
	var pre [maxPre]uint8
	for _, symbol := range preOrder[:pres] {
		if err := r.need(3); err != nil {
			return err
		}
		pre[symbol] = uint8(c.take(3))
	}
	if !preSymbols.build(r.pre[:], pre[:]) {
		return r.fail("a block with an impossible code for lengths")
	}
	lengths := r.lengths[:lits+dists]
	for i := 0; i < len(lengths); {
		e, err := r.preSymbol()
		if err != nil {
			return err
		}
		if e < 16 {
			lengths[i] = uint8(e)
			i++
			continue
		}
		value, least, width := uint8(0), 3, uint64(3)
		switch e {
		case 16:
			if i == 0 {
				return r.fail("a block that repeats a length before the first one")
			}
			value, width = lengths[i-1], 2
		case 18:
			least, width = 11, 7
		}
		if err := r.need(width); err != nil {
			return err
		}
		times := least + c.take(width)
		if times > len(lengths)-i {
			return r.fail("a block with too many lengths of codes")
		}
		for range times {
			lengths[i] = value
			i++
		}
	}
	if !litSymbols.build(r.lit[:], lengths[:lits]) || !distSymbols.build(r.dist[:], lengths[lits:]) {
		return r.fail("a block with an impossible code")
	}
	pair(&r.lit)
	return nil
}

// preSymbol reads a symbol of the code for lengths.
func (r *Reader) preSymbol() (int, error) {
	c := &r.codec
	for {
		e := r.pre[c.bits&(1<<preBits-1)]
		if n := uint64(e & 15); n <= c.count {
			if e&litOther != 0 {
				return 0, r.fail("a code that no length has")
			}
			c.take(n)
			return int(e >> 16), nil
		}
		if err := r.need(c.count + 1); err != nil {
			return 0, err
		}
	}
}
