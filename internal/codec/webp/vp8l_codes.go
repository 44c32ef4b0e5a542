package webp

import (
	"errors"
	"math/bits"
)

var errCode = errors.New("invalid prefix code")

const (
	maxCodeLength = 15
	rootBits      = 8
)

// An entry of a table has the length of a code in its low bits and the symbol above them. One for
// codes of more than rootBits has the bit entryLink, in place of the length the number of bits to
// look at next, and in place of the symbol where the table for these begins.
const (
	entryLength = 0x1F
	entryLink   = 0x20
	entrySymbol = 8
)

// prefixCode is a canonical prefix code (RFC 9649, 3.7.2) as a table by the next bits.
type prefixCode struct {
	table []uint32
	root  uint32 // the bits that are looked at first, as a mask
}

// entry returns the entry of the code at the beginning of v.
func (c *prefixCode) entry(v uint64) uint32 {
	e := c.table[uint32(v)&c.root]
	if e&entryLink != 0 {
		e = c.table[e>>entrySymbol+uint32(v>>rootBits)&(1<<(e&entryLength)-1)]
	}
	return e
}

// codeArena is the memory of tables.
type codeArena struct{ free, all []uint32 }

// reset gives all tables back.
func (a *codeArena) reset() { a.free = a.all }

// take returns n entries.
func (a *codeArena) take(n int) []uint32 {
	if n > len(a.free) {
		a.all = make([]uint32, max(n, 2*len(a.all), 1024))
		a.free = a.all
	}
	t := a.free[:n:n]
	a.free = a.free[n:]
	return t
}

// single is the code of one symbol, which takes no bits.
func (a *codeArena) single(symbol uint32) prefixCode {
	t := a.take(1)
	t[0] = symbol << entrySymbol
	return prefixCode{table: t}
}

// pair is the code of two symbols.
func (a *codeArena) pair(zero, one uint32) prefixCode {
	t := a.take(2)
	t[0], t[1] = zero<<entrySymbol|1, one<<entrySymbol|1
	return prefixCode{table: t, root: 1}
}

// build makes the code from the lengths of its codes by symbol, 0 for symbols that do not occur. It
// must be complete, or have one symbol.
func (a *codeArena) build(lengths []uint8) (prefixCode, error) {
	var count [maxCodeLength + 1]int
	last := 0
	for symbol, n := range lengths {
		if count[n]++; n > 0 {
			last = symbol
		}
	}
	symbols := len(lengths) - count[0]
	if symbols == 0 {
		return prefixCode{}, errCode
	}
	if symbols == 1 {
		return a.single(uint32(last)), nil
	}
	longest, sum := 0, 0
	var next [maxCodeLength + 2]uint32 // codes by length
	for n := 1; n <= maxCodeLength; n++ {
		if sum += count[n] << (maxCodeLength - n); count[n] > 0 {
			longest = n
		}
		next[n+1] = (next[n] + uint32(count[n])) << 1
	}
	if sum != 1<<maxCodeLength {
		return prefixCode{}, errCode
	}
	root := min(longest, rootBits)
	var deepest [1 << rootBits]uint8 // of the longest code by its first bits, without the root's
	size := 1 << root
	if longest > root {
		codes := next
		for _, n := range lengths {
			if n > rootBits {
				first := reversed(codes[n], uint(n)) & (1<<rootBits - 1)
				deepest[first] = max(deepest[first], n-rootBits)
			}
			codes[n]++
		}
		for _, n := range deepest {
			if n > 0 {
				size += 1 << n
			}
		}
	}
	t := a.take(size)
	end := uint32(1) << root
	for first, n := range deepest {
		if n > 0 {
			t[first] = end<<entrySymbol | entryLink | uint32(n)
			end += 1 << n
		}
	}
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		code := reversed(next[n], uint(n))
		next[n]++
		e := uint32(symbol)<<entrySymbol | uint32(n)
		if n <= rootBits {
			for i := code; i < 1<<root; i += 1 << n {
				t[i] = e
			}
			continue
		}
		link := t[code&(1<<rootBits-1)]
		sub := t[link>>entrySymbol:][:1<<(link&entryLength)]
		for i := code >> rootBits; i < uint32(len(sub)); i += 1 << (n - rootBits) {
			sub[i] = e
		}
	}
	return prefixCode{table: t, root: 1<<root - 1}, nil
}

// reversed is a code of n bits from its last bit to its first.
func reversed(code uint32, n uint) uint32 { return bits.Reverse32(code) >> (32 - n) }

// The repetitions in lists of code lengths (RFC 9649, 3.7.2.1.2), and the order of the codes for
// lengths.
var (
	repeatBits  = [3]uint32{2, 3, 7}
	repeatLeast = [3]uint32{3, 3, 11}
	lengthOrder = [19]uint8{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
)

// readCode reads a code over an alphabet. If it is not needed, its lengths need not make sense.
func (d *vp8l) readCode(alphabet uint32, needed bool) (prefixCode, error) {
	r := &d.r
	if r.read(1) != 0 {
		two := r.read(1) != 0
		a, b := r.read(1+7*r.read(1)), uint32(0)
		if two {
			b = r.read(8)
		}
		switch {
		case !needed:
			return prefixCode{}, nil
		case a >= alphabet || b >= alphabet:
			return prefixCode{}, errCode
		case two && a != b: // one symbol twice takes no bits
			return d.codes.pair(a, b), nil
		}
		return d.codes.single(a), nil
	}
	n := 4 + r.read(4)
	if int(n) > len(lengthOrder) {
		return prefixCode{}, errCode
	}
	var of [len(lengthOrder)]uint8
	for _, symbol := range lengthOrder[:n] {
		of[symbol] = uint8(r.read(3))
	}
	d.lengths = sized(d.lengths, int(alphabet))
	clear(d.lengths)
	d.lengthCodes.reset()
	code, err := d.lengthCodes.build(of[:])
	if err != nil {
		return prefixCode{}, err
	}
	if err := d.readLengths(&code); err != nil || !needed {
		return prefixCode{}, err
	}
	return d.codes.build(d.lengths)
}

// readLengths reads the lengths of codes.
func (d *vp8l) readLengths(code *prefixCode) error {
	r, most := &d.r, len(d.lengths)
	if r.read(1) != 0 {
		if most = 2 + int(r.read(2+2*r.read(3))); most > len(d.lengths) {
			return errCode
		}
	}
	previous := uint8(8)
	for i := 0; i < len(d.lengths) && most > 0; most-- {
		v := r.symbol(code)
		if v <= maxCodeLength {
			d.lengths[i] = uint8(v)
			i++
			if v != 0 {
				previous = uint8(v)
			}
			continue
		}
		n := int(r.read(repeatBits[v-16]) + repeatLeast[v-16])
		if n > len(d.lengths)-i {
			return errCode
		}
		if v == 16 {
			for j := range n {
				d.lengths[i+j] = previous
			}
		}
		i += n
	}
	if r.overrun() {
		return errShort
	}
	return nil
}
