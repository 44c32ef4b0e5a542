package deflate

import (
	"encoding/binary"
	"math/bits"
)

const (
	maxLit     = 286 // symbols of literals, the end and lengths
	maxDist    = 30
	maxLengths = 19 // of the code length alphabet
	endOfBlock = 256
	maxStored  = 1<<16 - 1
	limit      = 15 // bits of a code
)

// lengthsOrder is the order in which the code lengths of the code length alphabet are stored (RFC
// 1951, section 3.2.7).
var lengthsOrder = [maxLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthSymbols are the symbols of the lengths from 3 on.
var lengthSymbols = func() (symbols [256]uint16) {
	at := 0
	for s := range 28 {
		for range 1 << lengthBits(257+s) {
			if at < len(symbols) {
				symbols[at] = uint16(257 + s)
			}
			at++
		}
	}
	symbols[255] = 285
	return symbols
}()

// lengthBases are the first lengths of the symbols from 257 on, less 3.
var lengthBases = func() (bases [29]uint8) {
	for i := len(lengthSymbols) - 1; i >= 0; i-- {
		bases[lengthSymbols[i]-257] = uint8(i)
	}
	return bases
}()

func lengthSymbol(length int) int { return int(lengthSymbols[length-3]) }

// lengthBits is the number of extra bits of a length symbol.
func lengthBits(symbol int) uint {
	if symbol < 265 || symbol == 285 {
		return 0
	}
	return uint(symbol-261) / 4
}

func distanceSymbol(distance int) int {
	d := uint(distance - 1)
	if d < 4 {
		return int(d)
	}
	extra := bits.Len(d) - 2
	return 2*extra + int(d>>extra)
}

// distanceBits is the number of extra bits of a distance symbol.
func distanceBits(symbol int) uint { return uint(max(0, symbol/2-1)) }

// codes are the Huffman codes of a block.
type codes struct {
	builder
	lit     [maxLit]code
	dist    [maxDist]code
	lengths [maxLengths]code // of the code length alphabet
	told    []uint16         // the code lengths as symbols, with their extra bits from bit 8 on
	often   [maxLengths]uint32
	used    int // of lengthsOrder
}

// block writes a block with the items, or with the data that they represent.
func (w *Writer) block(last bool) {
	w.lit[endOfBlock] = 1
	c := &w.codes
	c.build(c.lit[:], w.lit[:], limit)
	c.build(c.dist[:], w.dist[:], limit)
	c.tell()
	dynamic, fixed := c.size(w), fixedSize(w)
	var final uint32
	if last {
		final = 1
	}
	content := w.buffer[w.from:w.done]
	// A stored block begins at a whole byte, and 65,535 bytes take another one.
	stored := (3+7+32)*(1+len(content)/maxStored) + 8*len(content)
	switch {
	case stored <= min(dynamic, fixed):
		w.store(content, final)
		return
	case fixed <= dynamic:
		w.bits.write(final|1<<1, 3)
		w.emit(&fixedCodes.lit, &fixedCodes.dist)
		return
	}
	w.bits.write(final|2<<1, 3)
	w.bits.write(maxLit-257, 5)
	w.bits.write(maxDist-1, 5)
	w.bits.write(uint32(c.used-4), 4)
	for _, s := range lengthsOrder[:c.used] {
		w.bits.write(uint32(c.lengths[s].length()), 3)
	}
	for _, t := range c.told {
		s := t & 0xFF
		w.bits.write(c.lengths[s].bits(), c.lengths[s].length())
		w.bits.write(uint32(t>>8), moreBits[s])
	}
	w.emit(&c.lit, &c.dist)
}

// moreBits is the number of extra bits of the symbols of the code length alphabet.
var moreBits = [maxLengths]uint{16: 2, 17: 3, 18: 7}

// tell encodes the code lengths of both alphabets as symbols, and makes the codes of these.
func (c *codes) tell() {
	var all [maxLit + maxDist]uint8
	for i, code := range c.lit {
		all[i] = uint8(code.length())
	}
	for i, code := range c.dist {
		all[maxLit+i] = uint8(code.length())
	}
	c.told = c.told[:0]
	clear(c.often[:])
	add := func(symbol, more int) {
		c.told = append(c.told, uint16(symbol|more<<8))
		c.often[symbol]++
	}
	for i := 0; i < len(all); {
		v, run := all[i], 1
		for i+run < len(all) && all[i+run] == v {
			run++
		}
		i += run
		if v > 0 {
			add(int(v), 0)
			run--
		}
		for run > 0 {
			n := run
			switch {
			case run < 3:
				n = 1
				add(int(v), 0)
			case v > 0:
				n = min(run, 6)
				add(16, n-3)
			case run <= 10:
				add(17, n-3)
			default:
				n = min(run, 138)
				add(18, n-11)
			}
			run -= n
		}
	}
	c.build(c.lengths[:], c.often[:], 7)
	for c.used = maxLengths; c.used > 4 && c.lengths[lengthsOrder[c.used-1]] == 0; {
		c.used--
	}
}

// size returns the number of bits of a block with these codes.
func (c *codes) size(w *Writer) int {
	size := 3 + 5 + 5 + 4 + 3*c.used
	for s, n := range c.often {
		size += int(n) * int(c.lengths[s].length()+moreBits[s])
	}
	return size + contentSize(w, &c.lit, &c.dist)
}

// fixedSize returns the number of bits of a block with the fixed codes.
func fixedSize(w *Writer) int { return 3 + contentSize(w, &fixedCodes.lit, &fixedCodes.dist) }

func contentSize(w *Writer, lit *[maxLit]code, dist *[maxDist]code) (size int) {
	for s, n := range w.lit {
		size += int(n) * int(lit[s].length()+lengthBits(s))
	}
	for s, n := range w.dist {
		size += int(n) * int(dist[s].length()+distanceBits(s))
	}
	return size
}

// fixedCodes are the codes of RFC 1951, section 3.2.6.
var fixedCodes = func() (c struct {
	lit  [maxLit]code
	dist [maxDist]code
}) {
	add := func(s, bit, length int) {
		c.lit[s] = code(length)<<24 | code(bits.Reverse32(uint32(bit))>>(32-length))
	}
	for s := range maxLit {
		switch {
		case s < 144:
			add(s, 0x30+s, 8)
		case s < 256:
			add(s, 0x190+s-144, 9)
		case s < 280:
			add(s, s-256, 7)
		default:
			add(s, 0xC0+s-280, 8)
		}
	}
	for s := range maxDist {
		c.dist[s] = code(5)<<24 | code(bits.Reverse32(uint32(s))>>27)
	}
	return c
}()

// emit writes the literals, the matches and the end of the block.
func (w *Writer) emit(lit *[maxLit]code, dist *[maxDist]code) {
	b := w.bits
	data := w.buffer[w.from:w.done]
	for _, t := range w.tokens {
		b.literals(data[:t.literals], lit)
		data = data[t.literals+t.length:]
		length := uint32(t.length) - 3
		s := int(lengthSymbols[length&0xFF])
		b.add(uint64(lit[s].bits()), lit[s].length())
		b.add(uint64(length-uint32(lengthBases[s-257])), lengthBits(s))
		d := distanceSymbol(int(t.distance) + 1)
		b.add(uint64(dist[d].bits()), dist[d].length())
		n := distanceBits(d)
		b.add(uint64(t.distance)&(1<<n-1), n)
		b.flush()
	}
	b.literals(data, lit)
	b.write(lit[endOfBlock].bits(), lit[endOfBlock].length())
	w.bits = b
}

// literals writes the codes of bytes, three at a time: 7 bits and 45 fit.
func (w *bitWriter) literals(data []byte, codes *[maxLit]code) {
	bits, count, out := w.bits, w.count, w.out
	for len(data) >= 3 {
		a, b, c := codes[data[0]], codes[data[1]], codes[data[2]]
		data = data[3:]
		more := uint64(a.bits()) | uint64(b.bits())<<(a.length()&63)
		n := a.length() + b.length()
		more |= uint64(c.bits()) << (n & 63)
		n += c.length()
		bits |= more << (count & 63)
		count += n
		out = binary.LittleEndian.AppendUint64(out, bits)
		whole := count / 8
		out = out[:len(out)-8+int(whole)]
		bits >>= whole * 8 & 63
		count &= 7
	}
	for _, b := range data {
		c := codes[b]
		bits |= uint64(c.bits()) << (count & 63)
		count += c.length()
	}
	w.bits, w.count, w.out = bits, count, out
	w.flush()
}

// store writes content uncompressed.
func (w *Writer) store(content []byte, final uint32) {
	for {
		n := min(len(content), maxStored)
		var bit uint32
		if n == len(content) {
			bit = final
		}
		w.bits.write(bit, 3)
		w.bits.align()
		w.bits.write(uint32(n)|uint32(^uint16(n))<<16, 32)
		w.bits.out = append(w.bits.out, content[:n]...)
		if content = content[n:]; len(content) == 0 {
			return
		}
	}
}
