package inflate

import (
	"bytes"
	"math/bits"
)

const (
	maxBits = 15 // of a code

	litBits  = 11 // that the table of literals and lengths is looked up with
	distBits = 9  // that the table of distances is
	preBits  = 7  // the longest code for the lengths of codes

	maxLit, maxDist, maxPre = 288, 32, 19 // symbols

	// A complete code has at least k+1 symbols in a table of 2^k entries, which bounds the tables
	// of codes that are longer than the index of the first one.
	litSize  = 1<<litBits + maxLit*16/5
	distSize = 1<<distBits + maxDist*64/7
)

// Entries of the tables. The lowest byte is the number of bits that the entry covers, including the
// bits of a length or distance after its code.
//
//	literals:  31 set, 24-25 how many, 16-23 the second one, 8-15 the first one
//	length:    16-24 the least length, 8-11 bits of the code alone
//	distance:  16-30 the least distance, 8-11 bits of the code alone
//	others:    30 set (lengths), 31 set (distances), and
//	  a table:       12-27 where it begins, 8-11 bits that it is looked up with
//	  end of block:  29 set
//	  no code:       28 set
const (
	literal     = 1 << 31
	oneLiteral  = literal | 1<<24
	twoLiterals = literal | 2<<24

	litOther  = 1 << 30
	distOther = 1 << 31
	endOf     = 1 << 29
	noCode    = 1 << 28
)

// symbols are the entries of symbols, without the bits of their codes. Entries of lengths and
// distances include the bits that follow the code.
type symbols struct {
	bits  int // of the first table
	other uint32
	entry []uint32
}

var (
	litSymbols  = symbols{litBits, litOther, make([]uint32, maxLit)}
	distSymbols = symbols{distBits, distOther, make([]uint32, maxDist)}
	preSymbols  = symbols{preBits, litOther, make([]uint32, maxPre)}

	// The fixed codes.
	fixedLit     [litSize]uint32
	fixedDist    [distSize]uint32
	fixedLengths [maxLit]uint8 // of literals and lengths
)

func init() {
	for i := range 256 {
		litSymbols.entry[i] = oneLiteral | uint32(i)<<8
	}
	litSymbols.entry[256] = litOther | endOf
	base := uint32(3)
	for i := range uint32(28) {
		extra := max(i/4, 1) - 1
		litSymbols.entry[257+i] = base<<16 | extra
		base += 1 << extra
	}
	litSymbols.entry[285] = 258 << 16
	litSymbols.entry[286], litSymbols.entry[287] = litOther|noCode, litOther|noCode
	base = 1
	for i := range uint32(30) {
		extra := max(i/2, 1) - 1
		distSymbols.entry[i] = base<<16 | extra
		base += 1 << extra
	}
	distSymbols.entry[30], distSymbols.entry[31] = distOther|noCode, distOther|noCode
	for i := range preSymbols.entry {
		preSymbols.entry[i] = uint32(i) << 16
	}

	for i := range fixedLengths {
		fixedLengths[i] = 8
		switch {
		case i >= 280:
		case i >= 256:
			fixedLengths[i] = 7
		case i >= 144:
			fixedLengths[i] = 9
		}
	}
	litSymbols.build(fixedLit[:], fixedLengths[:])
	pair(&fixedLit)
	distSymbols.build(fixedDist[:], bytes.Repeat([]byte{5}, maxDist))
}

// build makes the tables of the canonical code with the given lengths of codes; 0 is a symbol
// without one. It returns false unless the code is complete, has one symbol of one bit, or none.
func (s *symbols) build(table []uint32, lengths []uint8) bool {
	var count [maxBits + 1]int
	for _, n := range lengths {
		count[n&15]++
	}
	used := len(lengths) - count[0]
	var next [maxBits + 2]int
	space := 0 // of 2^maxBits, that codes take
	for n := 1; n <= maxBits; n++ {
		next[n+1] = next[n] + count[n]
		space += count[n] << (maxBits - n)
	}
	whole := table[:1<<s.bits]
	if space != 1<<maxBits {
		if used > 1 || used == 1 && count[1] == 0 {
			return false
		}
		for i := range whole {
			whole[i] = s.other | noCode | uint32(used)
		}
		for symbol, n := range lengths {
			if n == 1 {
				for i := 0; i < len(whole); i += 2 {
					whole[i] = s.coded(symbol, 1)
				}
			}
		}
		return true
	}
	var sorted [maxLit]uint16
	for symbol, n := range lengths {
		if n != 0 {
			sorted[next[n]] = uint16(symbol)
			next[n]++
		}
	}

	// Codes in order, their bits reversed. While they fit into the first table, it has 2^n entries
	// for codes of n bits, and is doubled from one length to the next.
	code, at, n := 0, 0, 1
	for ; n <= s.bits; n++ {
		for range count[n] {
			whole[code] = s.coded(int(sorted[at]), n)
			at++
			code = nextCode(code, n)
		}
		if n < s.bits {
			copy(whole[1<<n:2<<n], whole[:1<<n])
		}
	}
	end, prefix, begin, wide := len(whole), -1, 0, 0
	for ; n <= maxBits; n++ {
		for left := count[n]; left > 0; left-- {
			if p := code & (len(whole) - 1); p != prefix {
				prefix, begin, wide = p, end, n-s.bits
				for room := left; room < 1<<wide; {
					wide++
					room = room<<1 + count[s.bits+wide]
				}
				end += 1 << wide
				whole[prefix] = s.other | uint32(begin)<<12 | uint32(wide)<<8 | uint32(s.bits)
			}
			e := s.coded(int(sorted[at]), n-s.bits)
			at++
			for i := code >> s.bits; i < 1<<wide; i += 1 << (n - s.bits) {
				table[begin+i] = e
			}
			code = nextCode(code, n)
		}
	}
	return true
}

// coded returns the entry of a symbol whose code, or the rest of it, has n bits.
func (s *symbols) coded(symbol, n int) uint32 {
	e := s.entry[symbol]
	if e&(literal|litOther) == 0 || s.other == distOther && e&distOther == 0 {
		return e + uint32(n)<<8 + uint32(n)
	}
	return e + uint32(n)
}

// nextCode adds one to a code of n bits that is reversed.
func nextCode(code, n int) int {
	zeros := ^code & (1<<n - 1)
	if zeros == 0 {
		return 0
	}
	top := 1 << (bits.Len(uint(zeros)) - 1)
	return code&(top-1) | top
}

// pair puts two literals into the entries that both of their codes fit into.
func pair(table *[litSize]uint32) {
	// An entry refers to one before it, which is not yet a pair.
	for i := 1<<litBits - 1; i >= 0; i-- {
		e := table[i]
		if e&literal == 0 {
			continue
		}
		n := e & 15
		next := table[i>>n&(1<<litBits-1)]
		if both := n + next&31; next&literal != 0 && both <= litBits {
			table[i] = twoLiterals | next&0xff00<<8 | e&0xff00 | both
		}
	}
}
